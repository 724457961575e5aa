from __future__ import annotations

import msgspec
import pytest

from carob.report import versions
from carob.report.layout import Display
from carob.schema import Change, Diff, Json, Loss, Problem

CHANGE = Change(
    case="refund",
    field="turns[0].response",
    kind="changed",
    level="major",
    old="Within 30 days.",
    new="Within 14 days of delivery.",
    user="Can I return this?",
)


def diff(*changes: Change, **fields: object) -> Diff:
    difference = Diff(bump="major", changes=changes, before=3, after=3)
    return msgspec.structs.replace(difference, **fields)


def test_changed_words_are_marked():
    assert versions.format_diff(diff(CHANGE)) == (
        "major: 1 case changed\n"
        "  refund  Can I return this?\n"
        "    turns[0].response changed, major\n"
        "      Within [-30-]{+14+} days{+ of delivery+}.\n"
    )


def test_on_a_terminal_changed_words_are_colored():
    text = versions.format_diff(diff(CHANGE), Display(80, color=True))
    assert "\x1b[1;32m14\x1b[0m" in text
    assert "[-" not in text


def test_data_is_escaped_in_markdown():
    change = msgspec.structs.replace(CHANGE, old="a", new="<img src=x> *b*")
    text = versions.format_diff_markdown(diff(change))
    assert "<del>a</del><ins>\\<img src=x\\> \\*b\\*</ins>" in text
    assert "- refund  Can I return this?" in text


def test_json_contract_has_exactly_these_keys():
    assert versions.diff_document(diff(CHANGE)) == {
        "bump": "major",
        "changes": [
            {"case": "refund", "field": "turns[0].response", "kind": "changed", "level": "major"}
        ],
    }


def test_added_case_is_one_line():
    change = Change(case="hours", field=None, kind="added", level="minor", user="Open?")
    assert versions.format_diff(diff(change, bump="minor")) == (
        "minor: 1 case added\n  hours added, minor  Open?\n"
    )


def test_fields_that_cannot_be_compared_are_listed():
    lost = (Loss(case="a", field="turns[0].tool_calls", reason="no equivalent in csv"),)
    assert versions.format_diff(diff(bump="none", lost=lost)) == (
        "none: no differences in 3 cases\n\nnot compared (no equivalent in csv): turns.tool_calls\n"
    )


@pytest.mark.parametrize(
    ("old", "new", "displayed"),
    [
        (None, ["x"], '{+["x"]+}'),
        ({"a": 1}, {"a": 2}, '{"a":[-1-]{+2+}}'),
        ("a" * 3, None, "[-aaa-]"),
        ("x " * 3000, "y " * 3000, f"[-{'x ' * 3000}-]{{+{'y ' * 3000}+}}"),
    ],
)
def test_values_of_any_kind_are_shown(old: Json, new: Json, displayed: str):
    change = msgspec.structs.replace(CHANGE, old=old, new=new)
    assert f"\n      {displayed}\n" in versions.format_diff(diff(change))


def test_data_cannot_control_the_terminal():
    change = msgspec.structs.replace(CHANGE, case="\x1b[2J", new="\x1b]0;x\x07")
    assert "\x1b" not in versions.format_diff(diff(change))


def test_verification_names_each_problem():
    problems = [Problem(where="registry/support/1.0.0", message="was deleted")]
    assert versions.format_verification(problems, []) == "registry/support/1.0.0: was deleted\n"
