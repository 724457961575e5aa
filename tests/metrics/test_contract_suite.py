"""Rules that every metric must follow. New metrics are found and tested automatically."""

from __future__ import annotations

import dataclasses
import importlib
import pkgutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

import carob.metrics
from carob.metrics import Metric, build, evaluate, metric_parameters
from carob.plugins import METRICS
from carob.schema import (
    Case,
    Failed,
    ModelCall,
    Score,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    Unscored,
    Usage,
)

REQUIRED: dict[str, dict[str, Any]] = {
    "contract": {"contracts": {"any": {"type": "object"}}},
    "regex": {"pattern": "order"},
    "semantic_similarity": {"model": str(Path(__file__).parent)},
}


def kinds() -> list[type[Metric]]:
    names = [
        module.name for module in pkgutil.walk_packages(carob.metrics.__path__, "carob.metrics.")
    ]
    modules = [importlib.import_module(name) for name in names]
    found: set[Any] = {
        thing
        for module in modules
        for thing in vars(module).values()
        if isinstance(thing, type) and dataclasses.is_dataclass(thing) and hasattr(thing, "score")
    }
    return sorted(found, key=lambda kind: kind.name)


KINDS = kinds()
KNOWN: dict[str, type[Metric]] = {kind.name: kind for kind in KINDS}

CASE = Case(
    id="c",
    turns=(
        Turn(
            user="Where is order A7?",
            response="Order A7 is in Lisbon and arrives on 4 May.",
            tool_calls=(ToolCall(name="find", args={"id": "A7"}),),
        ),
        Turn(user="Thanks", response="You are welcome."),
    ),
    context="Order A7 left Porto on 2 May. It is in Lisbon and arrives on 4 May.",
    trajectory=("desk", "find"),
    state={"order": {"id": "A7", "open": True}},
    agents=("desk",),
    contains=("Lisbon",),
    contract="any",
    reference={"assertions": [{"type": "not-contains", "value": "refund"}]},
)


def full_trace(**changes: Any) -> Trace:
    first = Turn(
        user="Where is order A7?",
        response="Order A7 is in Madrid, and it does not arrive on 4 May.",
        tool_calls=(
            ToolCall(name="find", args={"id": "a7"}, start=10, end=20),
            ToolCall(name="mail", args={}),
        ),
        tool_results=(ToolResult(name="find", result={"status": "error"}),),
        agents=("desk", "stock"),
        model_calls=(
            ModelCall(
                model="gpt-4o",
                usage=Usage(input_tokens=100, output_tokens=20, cached_tokens=10),
                start=0,
                end=30,
            ),
        ),
        grounding=({"text": "Order A7 left Porto."},),
        start=0,
        end=50,
    )
    second = msgspec.structs.replace(first, response="You are welcome.", start=60, end=90)
    return Trace(id="t", turns=(first, second), state={"order": {"id": "A7", "open": 1}}, **changes)


def metric(kind: type[Metric]) -> Metric:
    for package in kind.imports:
        pytest.importorskip(package)
    return build(kind.name, REQUIRED.get(kind.name, {}), KNOWN)


every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def test_all_metrics_are_found_and_have_unique_names():
    offline = {name for name, target in METRICS.items() if target.startswith("carob.metrics.")}
    assert len(KINDS) == len(KNOWN)
    assert {*KNOWN} == offline


@every
def test_empty_case_and_empty_trace_are_unscored(kind: type[Metric]):
    outcome = metric(kind).score(Case(id="c"), Trace(id="t"))
    assert isinstance(outcome, Unscored)
    assert outcome.reason


@pytest.mark.parametrize("count", [0, 1, 2, 3])
@every
def test_empty_turns_are_unscored_not_zero(kind: type[Metric], count: int):
    outcome = metric(kind).score(CASE, Trace(id="t", turns=(Turn(),) * count))
    assert isinstance(outcome, Unscored)
    assert outcome.reason


@every
def test_same_input_gives_the_same_score_on_the_declared_scale(kind: type[Metric]):
    if kind.name == "semantic_similarity":
        pytest.skip("needs an embedding model; its own tests make one")
    outcomes = [evaluate(metric(kind), CASE, full_trace()) for _ in range(2)]
    assert outcomes[0] == outcomes[1]
    assert isinstance(outcomes[0], Score)
    low, high = kind.scale
    values = [outcomes[0].value, *(turn for turn in outcomes[0].turns if turn is not None)]
    assert all(low <= value and (high is None or value <= high) for value in values)
    assert len(outcomes[0].turns) in (0, 2)


@every
def test_outcome_survives_json(kind: type[Metric]):
    if kind.name == "semantic_similarity":
        pytest.skip("needs an embedding model; its own tests make one")
    outcome = evaluate(metric(kind), CASE, full_trace())
    data = msgspec.json.encode(outcome)
    assert msgspec.json.decode(data, type=Score | Unscored | Failed) == outcome


@every
def test_parameters_round_trip_through_json(kind: type[Metric]):
    built = metric(kind)
    data = msgspec.json.decode(msgspec.json.encode(metric_parameters(built)))
    assert build(kind.name, data, KNOWN) == built


@every
def test_exception_becomes_failed(kind: type[Metric]):
    outcome = evaluate(metric(kind), None, None)  # pyright: ignore[reportArgumentType] - on purpose
    assert isinstance(outcome, Failed)
    assert outcome.kind == "AttributeError"


@every
def test_class_declares_its_docs_version_and_scale(kind: type[Metric]):
    assert kind.__doc__
    assert not kind.__doc__.startswith(f"{kind.__name__}(")
    assert kind.version >= 1
    assert kind.better in ("higher", "lower")
    assert kind.needs
    assert not kind.judged
    low, high = kind.scale
    assert high is None or low < high
    assert kind.threshold is None or (low <= kind.threshold and high is not None)


def asks_of_the_case(kind: type[Metric]) -> bool:
    return any(need.startswith("case.") for need in kind.needs)


@every
def test_case_that_asks_nothing_of_the_metric_is_not_held_back(kind: type[Metric]):
    if not asks_of_the_case(kind) or kind.name == "hallucination":  # tool results are evidence too
        pytest.skip("scores every trace, whatever the case expects")
    silent = Trace(id="t", turns=(Turn(), Turn()))
    for trace in (full_trace(), silent, Trace(id="t")):
        outcome = metric(kind).score(Case(id="c"), trace)
        assert isinstance(outcome, Unscored)
        assert outcome.not_applicable, (trace, outcome.reason)


@every
def test_case_that_asks_for_the_metric_is_held_back_if_the_trace_lacks_the_data(
    kind: type[Metric],
):
    outcome = metric(kind).score(CASE, Trace(id="t", turns=(Turn(), Turn())))
    assert isinstance(outcome, Unscored)
    assert not outcome.not_applicable, outcome.reason
