"""Conventions of other packages are used like built-in ones, also in worker processes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from carob.schema import Json, Span
from carob.traces import read
from carob.traces.conventions import registry
from carob.traces.conventions.registry import BUILTIN, add_convention_finders, builtin_conventions
from carob.traces.mapping.traces import to_traces
from carob.traces.read import open_traces

SHOP = """
from carob.traces.mapping.convention import Convention, SpanMarks
from carob.traces.mapping.sources import messages_in

class Shop(Convention):
    name = "shop"
    marks = SpanMarks(attributes=("shop.kind",))
    inputs = (messages_in("shop.question", "user"),)
    outputs = (messages_in("shop.answer", "assistant"),)

    def role(self, span):
        return "agent" if span.attributes.get("shop.kind") == "clerk" else None

def find():
    return [Shop()]
"""
CLERK: dict[str, Json] = {"shop.kind": "clerk", "shop.question": "Hi?", "shop.answer": "Hi."}
MODEL: dict[str, Json] = {
    "gen_ai.operation.name": "chat",
    "gen_ai.request.model": "gemini",
    "gen_ai.output.messages": '[{"role": "assistant", "parts": []}]',
}


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "carob_shop_spans.py").write_text(SHOP)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(registry, "_finders", {})
    add_convention_finders([import_module("carob_shop_spans").find])
    yield
    registry.extra_conventions.cache_clear()


def span(number: int, attributes: dict[str, Json], parent: str | None = None) -> Span:
    return Span(
        trace_id="t1", span_id=str(number), parent_id=parent, name="", attributes=attributes
    )


def test_table_lists_every_convention_by_its_own_name():
    names = [convention.name for convention in builtin_conventions()]
    assert all(key.startswith(name) for key, name in zip(BUILTIN, names, strict=True))


@pytest.mark.usefixtures("shop")
def test_convention_of_another_package_explains_its_spans():
    (trace,) = to_traces([span(1, CLERK)])
    assert (trace.convention, trace.mapper) == ("shop", "shop@1")
    assert (trace.turns[0].user, trace.turns[0].response) == ("Hi?", "Hi.")


@pytest.mark.usefixtures("shop")
def test_its_agents_are_found_around_model_calls_of_built_in_conventions():
    (trace,) = to_traces([span(1, CLERK), span(2, MODEL, parent="1")])
    assert trace.convention == "shop"
    assert trace.models == ("gemini",)


@pytest.mark.usefixtures("shop")
def test_it_does_not_change_traces_in_which_a_built_in_convention_finds_the_agent():
    agent: dict[str, Json] = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
    (trace,) = to_traces([span(1, agent), span(2, CLERK, parent="1")])
    assert (trace.convention, trace.agents) == ("genai", ("a",))


@pytest.mark.usefixtures("shop")
def test_worker_processes_know_the_conventions_of_other_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "shop.jsonl"
    path.write_text("".join(map(otlp_line, range(1, 41))))
    with open_traces([path], report=lambda _: None) as alone:
        expected = list(alone)
    monkeypatch.setattr(read, "PARALLEL_SIZE", 0)
    # Reading in one process is what happens when a worker fails: it must not hide a failure.
    monkeypatch.setattr(read, "collect_chunks", None)
    with open_traces([path], report=lambda _: None, jobs=2) as divided:
        assert list(divided) == expected
    assert {trace.convention for trace in expected} == {"shop"}


def otlp_line(number: int) -> str:
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in CLERK.items()]
    line = {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "clerk",
        "startTimeUnixNano": f"{1_700_000_000_000_000_000 + number}",
        "endTimeUnixNano": f"{1_700_000_000_000_000_100 + number}",
        "attributes": attributes,
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [line]}]}]}) + "\n"
