from __future__ import annotations

import pytest

from carob.traces.conventions.hints import how_to_record
from carob.traces.conventions.registry import builtin_conventions


@pytest.mark.parametrize("name", sorted({convention.name for convention in builtin_conventions()}))
@pytest.mark.parametrize("field", ["user", "response", "tool_args", "tool_results", "usage"])
def test_every_convention_knows_how_to_record_every_field(name: str, field: str):
    assert how_to_record(name, field)


def test_hint_names_the_switch():
    assert "SPAN_AND_EVENT" in (how_to_record("adk", "user") or "")
    assert "TRACELOOP_TRACE_CONTENT=true" in (how_to_record("openllmetry", "response") or "")
    assert "session.id" in (how_to_record("strands", "conversation") or "")


def test_there_is_no_hint_for_an_unknown_convention_or_field():
    assert how_to_record("unheard-of", "user") is None
    assert how_to_record("adk", "unheard-of") is None
