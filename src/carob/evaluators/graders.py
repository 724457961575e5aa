"""Grader files of OpenAI: checks of texts, Python code, and combinations of them.

`string_check`, `text_similarity` with `bleu` or `rouge_l`, `python` and `multi` are supported.
Templates such as `{{item.answer}}` and `{{sample.output_text}}` are filled in from the pair.
"""

from __future__ import annotations

import ast
import math
import operator
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import msgspec

from carob.errors import FormatError, UsageError
from carob.evaluators.answers import parse_answer, read_line
from carob.evaluators.launch import HOSTS
from carob.evaluators.process import EvaluatorPool, Launch
from carob.evaluators.python_metric import digest_file
from carob.metrics import Metric, Outcome, metric_parameters
from carob.metrics.text.overlap import Bleu, RougeL
from carob.schema import Case, EvaluatorSettings, Failed, Json, Score, Trace, Turn, Unscored
from carob.schema.base import prepare_type

_VARIABLE = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_CHECKS: Mapping[str, Callable[[str, str], bool]] = {
    "eq": lambda text, reference: text == reference,
    "ne": lambda text, reference: text != reference,
    "like": lambda text, reference: reference in text,
    "ilike": lambda text, reference: reference.lower() in text.lower(),
}
_SIMILARITIES: Mapping[str, Callable[[], Metric]] = {"bleu": Bleu, "rouge_l": RougeL}
_MODELS = ("score_model", "label_model")


class GraderMetric(Metric):
    """Grades with a file. `grader_class` builds a subclass for each."""

    version: ClassVar[int] = 1
    settings: ClassVar[EvaluatorSettings]
    grader: ClassVar[dict[str, Any]]
    pool: ClassVar[EvaluatorPool]

    def score(self, case: Case, trace: Trace) -> Outcome:
        """Grade the last answer of the trace."""
        turn = trace.turns[-1] if trace.turns else None
        if turn is None or turn.response is None:
            return Unscored(reason="no response was recorded")
        return self._grade(self.grader, [], _variables(case, turn))

    def close(self) -> None:
        """End the processes of Python graders."""
        self.pool.close()

    def _grade(self, grader: dict[str, Any], path: list[str], values: dict[str, Any]) -> Outcome:
        kind = grader["type"]
        if kind == "python":
            document = {"path": path, "arguments": [values["sample"], values["item"]]}
            return read_line(self.pool.ask(msgspec.json.encode(document), parse_answer))
        if kind == "multi":
            return self._combine(grader, path, values)
        try:
            text, reference = (_fill_in(grader[key], values) for key in ("input", "reference"))
        except LookupError as error:
            return Unscored(reason=f"the case has no {error.args[0]}")
        if kind == "string_check":
            return Score(float(_CHECKS[grader["operation"]](text, reference)))
        metric = _SIMILARITIES[grader["evaluation_metric"]]()
        case = Case(id="grader", turns=(Turn(response=reference),))
        return metric.score(case, Trace(id="grader", turns=(Turn(response=text),)))

    def _combine(self, grader: dict[str, Any], path: list[str], values: dict[str, Any]) -> Outcome:
        scores: dict[str, float] = {}
        for name, part in grader["graders"].items():
            outcome = self._grade(part, [*path, name], values)
            if not isinstance(outcome, Score):
                return outcome
            scores[name] = outcome.value
        value = _calculate(ast.parse(grader["calculate_output"], mode="eval").body, scores)
        if not 0 <= value <= 1:
            return Failed(
                "EvaluatorError", f"the score is {value:g}, expected a number from 0 to 1"
            )
        reason = ", ".join(f"{name} {score:g}" for name, score in scores.items())
        return Score(value, reason=reason)


def grader_class(settings: EvaluatorSettings, name: str | None = None) -> type[Metric]:
    """Return the metric class of a grader file. Raises `FormatError` for a file that is none."""
    digest = digest_file(settings.file)
    grader = _read(settings.file)
    host = (sys.executable, str(HOSTS / "host.py"), "openai", settings.file)
    threshold = grader.get("pass_threshold")
    members = {
        "__doc__": f"Grader {Path(settings.file).name} ({grader['type']}).",
        "__module__": __name__,
        "__annotations__": {"digest": Literal[digest]},
        "__reduce__": _reduce,
        "name": name or grader.get("name") or Path(settings.file).stem,
        "threshold": threshold if isinstance(threshold, int | float) else 0.5,
        "waits": _has_code(grader),
        "settings": settings,
        "grader": grader,
        "pool": EvaluatorPool(Launch(host, settings.timeout, settings.env, persistent=True), 2),
        "digest": field(default=digest),
    }
    kind = type(str(members["name"]), (GraderMetric,), members)
    return cast("type[Metric]", dataclass(frozen=True, kw_only=True)(kind))


def _has_code(grader: dict[str, Any]) -> bool:
    parts = grader.get("graders", {}).values()
    return grader["type"] == "python" or any(map(_has_code, parts))


def _read(file: str) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(Path(file).read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"not valid JSON: {error}", where=file) from error
    grader = _as_object(document)
    if "grader" in grader:  # as the API wraps it
        grader = _as_object(grader["grader"])
    _check(grader, "$", file)
    return grader


def _as_object(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _check(grader: dict[str, Any], path: str, file: str) -> None:
    where, kind = f"{file} {path}", grader.get("type")
    if kind in _MODELS:
        hint = "write it as a rubric, which is asked with --judge"
        raise UsageError(f"a grader of the type {kind!r} asks a model", where=where, hint=hint)
    keys = _KEYS.get(str(kind))
    if keys is None:
        expected = ", ".join(_KEYS)
        raise FormatError(f"unknown grader {kind!r}; expected one of: {expected}", where=where)
    for key in keys:
        if key not in grader:
            raise FormatError(f"missing key {key!r}", where=where)
    _check_choice(grader, "operation", _CHECKS, where)
    _check_choice(grader, "evaluation_metric", _SIMILARITIES, where)
    for name, part in _as_object(grader.get("graders")).items():
        _check(_as_object(part), f"{path}.graders.{name}", file)


_KEYS = {
    "string_check": ("input", "reference", "operation"),
    "text_similarity": ("input", "reference", "evaluation_metric"),
    "python": ("source",),
    "multi": ("graders", "calculate_output"),
}


def _check_choice(grader: Any, key: str, known: Mapping[str, object], where: str) -> None:
    if key in grader and grader[key] not in known:
        expected = ", ".join(known)
        raise FormatError(
            f"unsupported {key} {grader[key]!r}; expected one of: {expected}", where=where
        )


def _variables(case: Case, turn: Turn) -> dict[str, Any]:
    expected = case.turns[-1].response if case.turns else None
    doc = case.origin.doc if case.origin else None
    item: dict[str, Json] = {**case.metadata, **case.reference}
    item |= doc if isinstance(doc, dict) else {}
    texts = {"question": turn.user, "input": turn.user, "answer": expected, "reference": expected}
    item = {key: text for key, text in texts.items() if text is not None} | item
    calls = [{"name": call.name, "arguments": call.args} for call in turn.tool_calls or ()]
    return {"item": item, "sample": {"output_text": turn.response, "output_tools": calls}}


def _fill_in(template: str, values: dict[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        result: Any = values
        for key in match[1].split("."):
            if not isinstance(result, dict) or key not in result:
                raise LookupError(match[1])
            result = cast("dict[str, Any]", result)[key]
        return result if isinstance(result, str) else msgspec.json.encode(result).decode()

    return _VARIABLE.sub(value, template)


_OPERATORS: Mapping[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,  # pyright: ignore[reportUnknownMemberType] - untyped in typeshed
    ast.USub: operator.neg,
}
_FUNCTIONS: Mapping[str, Any] = {
    "min": min,
    "max": max,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
}


def _calculate(node: ast.expr, scores: Mapping[str, float]) -> float:
    """Evaluate a formula of numbers, scores, operators and the functions of graders. Anything else
    raises `ValueError`: a formula is not code."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in scores:
            return scores[name]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_calculate(left, scores), _calculate(right, scores))
        case ast.UnaryOp(op=ast.USub() as op, operand=operand):
            return _OPERATORS[type(op)](_calculate(operand, scores))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_calculate(arg, scores) for arg in args))
        case _:
            raise ValueError(f"unsupported in calculate_output: {ast.unparse(node)}")


def _reduce(self: GraderMetric) -> tuple[Any, ...]:
    return _rebuild, (self.settings, self.name, metric_parameters(self))


def _rebuild(settings: EvaluatorSettings, name: str, params: dict[str, Any]) -> Metric:
    return msgspec.convert(params, prepare_type(grader_class(settings, name)))
