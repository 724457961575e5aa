"""`@carob.metric`: functions as metrics."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Literal, cast

import pytest

import carob
from carob.errors import UsageError
from carob.metrics import build, evaluate, metric_parameters
from carob.metrics.function import ScoreFunction
from carob.schema import Case, Failed, Score, Trace, Turn, Unscored

HINT = "; return carob.Unscored(reason) if there is no score"
CASE = Case.of("Price of the hose?", "The hose costs 19 euros.", id="hose")


def trace(response: str | None) -> Trace:
    return Trace(id="t", turns=(Turn(user="Price of the hose?", response=response),))


@carob.metric
def polite(case: Case, trace: Trace) -> bool:
    """Whether the answer says please."""
    return "please" in (trace.turns[-1].response or "")


@carob.metric(
    name="brevity", threshold=0.5, version=3, needs=["response", "case.response"], scale=(0, 10)
)
def short(
    case: Case, trace: Trace, *, words: int = 5, unit: Literal["word", "letter"] = "word"
) -> float | Unscored:
    """Whether the answer is short."""
    text = trace.turns[-1].response or ""
    return 10.0 if len(text.split() if unit == "word" else text) <= words else 0.0


def test_function_becomes_a_metric_with_its_name_and_docstring():
    assert (polite.name, polite.version, polite.threshold) == ("polite", 1, None)
    assert polite.__doc__ == "Whether the answer says please."
    assert evaluate(polite(), CASE, trace("please")) == Score(1.0)
    assert evaluate(polite(), CASE, trace("no")) == Score(0.0)


def test_keyword_parameters_are_typed_parameters_of_the_metric():
    metric = build("brevity", {"words": 2}, {"brevity": short})
    assert metric_parameters(metric) == {"words": 2, "unit": "word"}
    assert evaluate(metric, CASE, trace("It costs 19 euros.")) == Score(0.0)
    with pytest.raises(UsageError, match="expected one of word, letter"):
        build("brevity", {"unit": "line"}, {"brevity": short})
    with pytest.raises(UsageError, match="no parameter 'wrods'"):
        build("brevity", {"wrods": 2}, {"brevity": short})


def test_decorated_function_keeps_its_options_its_documentation_and_its_defaults():
    def words(
        case: Case,
        trace: Trace,
        ignored: list[str] = ["the"],  # noqa: B006 - copied for each metric
    ) -> float:
        """Number of words."""
        return float(sum(word not in ignored for word in str(trace.turns[-1].response).split()))

    kind = carob.metric(
        name="length",
        version=4,
        threshold=5,
        scale=(0, None),
        better="lower",
        needs=["response"],
        imports=["json"],
    )(words)
    assert (kind.name, kind.version, kind.threshold, kind.scale) == ("length", 4, 5, (0, None))
    assert (kind.better, kind.needs, kind.imports) == ("lower", ("response",), ("json",))
    assert (kind.__doc__, kind.__name__) == ("Number of words.", "words")
    assert (kind.__module__, kind.__qualname__) == (words.__module__, words.__qualname__)
    assert evaluate(kind(), CASE, trace("to the garden")) == Score(2.0)
    assert evaluate(kind(ignored=[]), CASE, trace("to the garden")) == Score(3.0)
    assert metric_parameters(kind()) == {"ignored": ["the"]}
    with pytest.raises(TypeError, match="positional"):
        kind(["to"])  # pyright: ignore[reportCallIssue]


def test_name_is_that_of_the_function_without_where_it_was_defined():
    def curt(case: Case, trace: Trace, words: int) -> float:
        return float(words > len(str(trace.turns[-1].response)))

    kind = carob.metric(curt)
    assert kind.name == "curt"
    assert len({kind(words=3), kind(words=3), kind(words=4)}) == 2
    nameless = partial(curt, words=3)
    with pytest.raises(UsageError) as caught:
        carob.metric(nameless)
    assert caught.value.message == "a function without a name needs one as a metric"
    assert (caught.value.where, caught.value.hint) == (
        repr(nameless),
        "such as `carob.metric(name='polite')`",
    )
    assert carob.metric(name="curt")(nameless).__name__ == "curt"


def test_score_below_an_open_scale_is_a_failure():
    @carob.metric(scale=(1, None))
    def fixed(case: Case, trace: Trace) -> float:
        return float(len(case.turns))

    assert evaluate(fixed(), Case(id="none"), trace("19")) == Failed(
        "ValueError", "the score is 0.0, expected a number from 1"
    )


def test_missing_data_that_the_metric_needs_is_unscored():
    assert evaluate(short(), CASE, trace(None)) == Unscored("no response was recorded")
    silent = Case.of("Price of the hose?", id="hose")
    assert evaluate(short(), silent, trace("19")) == Unscored("the case expects no response")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.5, "the score is 1.5, expected a number from 0 to 1"),
        (float("nan"), "the score is nan, expected a number from 0 to 1"),
        (Score(-1.0), "the score is -1.0, expected a number from 0 to 1"),
        (None, f"expected a number, a Score or an Unscored, got None{HINT}"),
        ("good", "expected a number, a Score or an Unscored, got 'good'"),
    ],
)
def test_value_that_is_no_score_is_a_failure(value: object, message: str):
    metric = carob.metric(lambda case, trace: value)  # type: ignore[return-value]
    outcome = evaluate(metric(), CASE, trace("x"))
    assert isinstance(outcome, Failed)
    assert outcome == Failed("ValueError", message)


def test_exception_is_a_failure():
    @carob.metric
    def broken(case: Case, trace: Trace) -> float:
        return 1 / len(case.tags)

    assert evaluate(broken(), CASE, trace("x")) == Failed("ZeroDivisionError", "division by zero")


def test_metric_of_a_module_can_be_sent_to_a_worker():
    assert pickle.loads(pickle.dumps(short(words=7))) == short(words=7)  # noqa: S301


def test_functions_that_cannot_be_metrics_are_refused():
    def lonely(case: Case) -> float:
        return 1.0

    def greedy(case: Case, trace: Trace, **rest: int) -> float:
        return 1.0

    def taken(case: Case, trace: Trace, threshold: float = 1) -> float:
        return 1.0

    def hashed(case: Case, trace: Trace, digest: str = "") -> float:
        return 1.0

    async def later(case: Case, trace: Trace) -> float:
        return 1.0

    for function, message in {
        lonely: "the function does not take a case and a trace",
        greedy: r"a metric cannot have \*args or \*\*kwargs",
        taken: "a metric cannot have a parameter 'threshold'",
        hashed: "a metric cannot have a parameter 'digest'",
        later: "a metric cannot be an async function",
    }.items():
        with pytest.raises(UsageError, match=f"{function.__name__}: {message}$") as caught:
            carob.metric(cast("ScoreFunction", function))
        hint = "such as `def polite(case, trace): ...`" if function is lonely else None
        assert caught.value.hint == hint


def test_function_may_return_why_there_is_no_score():
    @carob.metric
    def undecided(case: Case, trace: Trace) -> Unscored | Failed:
        if trace.turns[-1].response:
            return Failed(kind="offline", message="no dictionary")
        return Unscored("nothing to judge")

    assert evaluate(undecided(), CASE, trace(None)) == Unscored("nothing to judge")
    assert evaluate(undecided(), CASE, trace("19")) == Failed("offline", "no dictionary")


def test_unknown_type_in_a_signature_is_refused():
    def strange(
        case: Case,
        trace: Trace,
        *,
        words: Wrods = 5,  # pyright: ignore  # noqa: F821, PGH003 - unknown on purpose
    ) -> float:
        return 1.0

    with pytest.raises(UsageError, match="unknown type in the signature: name 'Wrods'"):
        carob.metric(strange)  # pyright: ignore[reportUnknownArgumentType]
