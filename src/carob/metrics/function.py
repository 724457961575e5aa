"""Metrics from plain functions: `@metric` turns `(case, trace) -> number` into a metric class."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast, overload

from carob.errors import UsageError
from carob.metrics.metric import Metric, Outcome
from carob.metrics.needs import Need, missing_data
from carob.schema import Case, Failed, Score, Trace, Unscored
from carob.schema.assertion import stated_assertions
from carob.schema.outcome import Scale

ScoreFunction: TypeAlias = Callable[..., float | bool | Score | Unscored | Failed]
"""Takes a case and a trace. Its further parameters are the parameters of the metric."""


class FunctionMetric(Metric):
    """A metric that calls a function. `@metric` builds a subclass for each function."""

    function: ClassVar[ScoreFunction]
    """The function, as it was before it was decorated."""
    parameters: ClassVar[tuple[str, ...]] = ()
    """The names of its parameters after the case and the trace."""

    if TYPE_CHECKING:  # each subclass has the parameters of its function

        def __init__(self, **parameters: Any) -> None: ...

    def score(self, case: Case, trace: Trace) -> Outcome:
        """Call the function. Data that it declares to need and that is missing leaves the pair
        unscored."""
        missing = missing_data(self, trace) or _missing_expectation(self.needs, case)
        if missing:
            return Unscored(reason=missing)
        params = {name: getattr(self, name) for name in self.parameters}
        return as_outcome(type(self).function(case, trace, **params), self.scale)


@overload
def metric(function: ScoreFunction, /) -> type[FunctionMetric]: ...
@overload
def metric(
    *,
    name: str | None = None,
    version: int = 1,
    threshold: float | None = None,
    scale: Scale = (0.0, 1.0),
    better: Literal["higher", "lower"] = "higher",
    needs: Sequence[Need] = (),
    imports: Sequence[str] = (),
) -> Callable[[ScoreFunction], type[FunctionMetric]]: ...
def metric(
    function: ScoreFunction | None = None,
    /,
    *,
    name: str | None = None,
    version: int = 1,
    threshold: float | None = None,
    scale: Scale = (0.0, 1.0),
    better: Literal["higher", "lower"] = "higher",
    needs: Sequence[Need] = (),
    imports: Sequence[str] = (),
) -> type[FunctionMetric] | Callable[[ScoreFunction], type[FunctionMetric]]:
    """Turn a function `(case, trace) -> float | bool | Score | Unscored` into a metric.

    The name defaults to that of the function, and its docstring describes the metric. Parameters
    after the case and the trace become parameters of the metric, with their types and defaults.
    Without a threshold the metric is informational. Raise `version` when the same pair would score
    differently.
    """
    options: dict[str, Any] = {
        "version": version,
        "threshold": threshold,
        "scale": scale,
        "better": better,
        "needs": tuple(needs),
        "imports": tuple(imports),
    }
    if function is not None:
        return _metric_class(function, name, options)
    return lambda decorated: _metric_class(decorated, name, options)


def as_outcome(value: object, scale: Scale) -> Outcome:
    """Return what a function returned as an outcome. Raises `ValueError` if it is none, or off the
    scale: a score that no threshold expects must not decide a case."""
    if isinstance(value, bool | int | float):
        value = Score(float(value))
    if isinstance(value, Score):
        low, high = scale
        if not low <= value.value <= (math.inf if high is None else high):  # false for NaN, too
            end = "" if high is None else f" to {high:g}"
            raise ValueError(f"the score is {value.value}, expected a number from {low:g}{end}")
        return value
    if isinstance(value, Unscored | Failed):
        return value
    hint = "; return carob.Unscored(reason) if there is no score" if value is None else ""
    raise ValueError(f"expected a number, a Score or an Unscored, got {value!r:.80}{hint}")


def _metric_class(
    function: ScoreFunction, name: str | None, options: Mapping[str, Any]
) -> type[FunctionMetric]:
    where = getattr(function, "__qualname__", repr(function))
    name = name or getattr(function, "__name__", None)
    if name is None:  # the text of a `partial` has its address, which differs from run to run
        hint = "such as `carob.metric(name='polite')`"
        raise UsageError("a function without a name needs one as a metric", where=where, hint=hint)
    params = _parameters(function, where)
    reserved = {*dir(FunctionMetric), *FunctionMetric.__annotations__, "digest"}
    for param in params:
        if param.name in reserved:
            raise UsageError(f"a metric cannot have a parameter {param.name!r}", where=where)
    members = {
        **options,
        "name": name,
        "function": staticmethod(function),
        "parameters": tuple(param.name for param in params),
        "__doc__": inspect.getdoc(function),
        # Pickle finds the class under the name of the function, which the decorator replaces.
        "__module__": function.__module__,
        "__qualname__": where,
        "__annotations__": {param.name: _annotation(param) for param in params},
        **{param.name: _default(param) for param in params if param.default is not param.empty},
    }
    kind = type(getattr(function, "__name__", name), (FunctionMetric,), members)
    return cast("type[FunctionMetric]", dataclass(frozen=True, kw_only=True)(kind))


def _parameters(function: ScoreFunction, where: str) -> list[inspect.Parameter]:
    """Return the parameters after the case and the trace."""
    if inspect.iscoroutinefunction(function):
        raise UsageError("a metric cannot be an async function", where=where)
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise UsageError(f"unknown type in the signature: {error}", where=where) from error
    params = [*signature.parameters.values()]
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if len(params) < 2 or any(param.kind not in positional for param in params[:2]):
        hint = "such as `def polite(case, trace): ...`"
        raise UsageError("the function does not take a case and a trace", where=where, hint=hint)
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(param.kind in variable for param in params):
        raise UsageError("a metric cannot have *args or **kwargs", where=where)
    return params[2:]


def _annotation(param: inspect.Parameter) -> Any:
    return Any if param.annotation is param.empty else param.annotation


def _default(param: inspect.Parameter) -> Any:
    value: Any = param.default
    if type(value) in (list, dict, set):  # a dataclass refuses them as defaults
        return field(default_factory=value.copy)
    return value


_EXPECTATIONS: Mapping[str, tuple[Callable[[Case], bool], str]] = {
    "case.response": (
        lambda case: any(turn.response is not None for turn in case.turns),
        "the case expects no response",
    ),
    "case.tool_calls": (
        lambda case: (
            case.tool_calls is not None or any(turn.tool_calls is not None for turn in case.turns)
        ),
        "the case does not state tool calls",
    ),
    "case.trajectory": (lambda case: bool(case.trajectory), "the case states no trajectory"),
    "case.state": (lambda case: bool(case.state), "the case states no session state"),
    "case.agents": (lambda case: bool(case.agents), "the case names no agents"),
    "case.contract": (lambda case: case.contract is not None, "the case names no contract"),
    "case.context": (lambda case: case.context is not None, "the case has no context"),
    "case.contains": (lambda case: bool(case.contains), "the case names no texts to contain"),
    "case.assertions": (
        lambda case: bool(stated_assertions(case.reference)),
        "the case states no assertions",
    ),
    "case.goal": (lambda case: case.goal is not None, "the case states no goal"),
    "case.scenario": (lambda case: case.scenario is not None, "the case has no scenario"),
}


def _missing_expectation(needs: Sequence[Need], case: Case) -> str | None:
    checks = (_EXPECTATIONS[need] for need in needs if need in _EXPECTATIONS)
    return next((why for holds, why in checks if not holds(case)), None)
