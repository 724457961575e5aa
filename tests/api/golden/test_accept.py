"""Accepting what an agent did, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from carob.analysis.edit_script import accept_lines, edit_script
from carob.api.golden.accept import AcceptedLine, accept_changes
from carob.api.golden.drafts import get_draft
from carob.api.release import release
from carob.api.views.case import view_case
from carob.errors import RefusedError, StaleError, UsageError
from carob.schema import ToolCall
from carob.schema.edit_script import ScriptLine
from tests.browser.workspace import SHOP, golden_cases, run_of, write_golden


def lines(*texts: str) -> list[AcceptedLine]:
    return [AcceptedLine.parse(text) for text in texts]


def test_only_the_accepted_argument_changes(tmp_path: Path):
    store = str(tmp_path / "carob.db")
    cases = [case for case in golden_cases() if case.id == "delivery_date"]
    folder = write_golden(tmp_path, cases)
    release(folder.path / f"{SHOP}.evalset.json", by="Mara", registry=folder.registry)
    run = run_of(tmp_path, store, cases, ["delivery_date"], "1")
    view = view_case(
        run.id, "delivery_date", golden=folder.path, registry=folder.registry, store=store
    )
    script = view.turns[0].script
    assert script is not None
    assert [step.kind for step in script] == ["keep", "change"]
    accepted = accept_changes(run.id, "delivery_date", lines("0.1.1"), folder=folder, store=store)
    first = accepted.case.turns[0]
    assert first.tool_calls is not None
    assert first.tool_calls[1].args == {"order": "GS-2041", "day": "2026-03-06"}
    assert first.response == cases[0].turns[0].response
    assert accepted.review == "draft"
    assert get_draft(folder, SHOP).next_version == "2.0.0"
    with pytest.raises((StaleError, RefusedError)):
        accept_changes(run.id, "delivery_date", lines("0.response"), folder=folder, store=store)


def test_missing_call_is_removed_and_extra_call_added():
    expected = [ToolCall(name="a", args={}), ToolCall(name="b", args={"x": 1})]
    actual = [ToolCall(name="b", args={"x": 2, "y": 3}), ToolCall(name="c", args={})]
    steps = edit_script(expected, actual)
    assert [step.kind for step in steps] == ["missing", "change", "unexpected"]
    accepted = accept_lines(steps, [ScriptLine(0, None), ScriptLine(2, None)])
    assert [(call.name, call.args) for call in accepted] == [("b", {"x": 1}), ("c", {})]
    assert accept_lines(steps, []) == expected
    whole = accept_lines(steps, [ScriptLine(0, None), ScriptLine(1, None), ScriptLine(2, None)])
    assert [(call.name, call.args) for call in whole] == [("b", {"x": 2, "y": 3}), ("c", {})]


def test_removed_argument_can_be_accepted():
    steps = edit_script(
        [ToolCall(name="a", args={"x": 1, "y": 2})], [ToolCall(name="a", args={"y": 2})]
    )
    assert accept_lines(steps, [ScriptLine(0, 0)])[0].args == {"y": 2}


@pytest.mark.parametrize("text", ["", "x", "1", "1.2.3.4", "1.x", "case.response", "-1.0", "1.-2"])
def test_line_that_is_none_is_refused(text: str):
    with pytest.raises(UsageError):
        AcceptedLine.parse(text)
