from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carob.errors import InputError
from carob.schema import Case, CaseSession, Dataset, Loss, Rubric, ToolCall, Trace, Turn
from carob.versions.diff import bump_for, diff, with_losses

BASE = Case(
    id="refund",
    turns=(
        Turn(
            user="Can I return this?",
            response="Within 30 days.",
            tool_calls=(ToolCall(name="lookup", args={"id": 1}, id="call-1"),),
        ),
    ),
    context="Returns are free.",
    trajectory=("front_desk", "returns"),
    state={"ticket": "open"},
    contains=("30", "days"),
    contract="answer",
    reference={"facts": ["free"]},
    rubrics=(Rubric(id="polite", text="Is polite.", description="tone"),),
    session=CaseSession(app="shop", user="u1"),
    metrics=("exact_match", "rouge_l"),
    profile="strict",
    tags=("returns",),
    metadata={"source": "tickets"},
)


def dataset(*cases: Case, **fields: Any) -> Dataset:
    return Dataset(name="support", cases=cases, **fields)


def changed(**fields: Any) -> Case:
    return msgspec.structs.replace(BASE, **fields)


def turn(**fields: Any) -> Case:
    return changed(turns=(msgspec.structs.replace(BASE.turns[0], **fields),))


def only(new: Case) -> tuple[str | None, str, str]:
    (change,) = diff(dataset(BASE), dataset(new)).changes
    return change.field, change.kind, change.level


def test_new_recorded_answer_is_a_patch_under_its_json_name():
    assert only(changed(recorded=Trace(id="t-1"))) == ("recording", "added", "patch")


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (turn(response="Within 14 days."), "turns[0].response"),
        (turn(user="Can I keep this?"), "turns[0].user"),
        (turn(tool_calls=(ToolCall(name="search", args={"id": 1}),)), "turns[0].tool_calls"),
        (turn(tool_calls=(ToolCall(name="lookup", args={"id": True}),)), "turns[0].tool_calls"),
        (changed(context="Returns cost money."), "context"),
        (changed(trajectory=("returns", "front_desk")), "trajectory"),
        (changed(state={"ticket": "closed"}), "state.ticket"),
        (changed(contains=("30",)), "contains"),
        (changed(contract="other"), "contract"),
        (changed(reference={"facts": ["paid"]}), "reference.facts"),
        (changed(rubrics=(Rubric(id="polite", text="Is rude."),)), "rubrics"),
        (changed(session=CaseSession(app="shop", user="u2")), "session.user"),
        (changed(metrics=("exact_match",)), "metrics"),
        (changed(profile="lenient"), "profile"),
    ],
)
def test_change_of_meaning_is_major(new: Case, field: str):
    assert only(new) == (field, "changed", "major")


@pytest.mark.parametrize(
    ("new", "field"),
    [
        (turn(response=" Within  30 days.\n"), "turns[0].response"),
        (
            turn(tool_calls=(ToolCall(name="lookup", args={"id": 1.0}, id="x"),)),
            "turns[0].tool_calls",
        ),
        (turn(id="turn-1"), "turns[0].id"),
        (changed(contains=("days", "30")), "contains"),
        (changed(metrics=("rouge_l", "exact_match")), "metrics"),
        (changed(rubrics=(Rubric(id="polite", text="Is polite."),)), "rubrics"),
        (changed(tags=("returns", "edge-case")), "tags"),
        (changed(metadata={"source": "calls"}), "metadata.source"),
        (changed(updated_at="2026-01-01"), "updated_at"),
    ],
)
def test_rewording_is_a_patch(new: Case, field: str):
    kind, _, level = only(new)
    assert (kind, level) == (field, "patch")


def test_expectation_that_appears_or_disappears_is_major():
    assert only(changed(agents=("returns",))) == ("agents", "added", "major")
    assert only(changed(state=None)) == ("state", "removed", "major")
    assert only(changed(state={"ticket": "open", "note": None})) == ("state.note", "added", "major")


def test_expecting_no_calls_differs_from_no_expectation():
    none = changed(turns=(Turn(user="Hi"),))
    empty = changed(turns=(Turn(user="Hi", tool_calls=()),))
    assert diff(dataset(none), dataset(empty)).bump == "major"


def test_added_turn_is_major():
    new = changed(turns=(*BASE.turns, Turn(user="Thanks!")))
    assert only(new) == ("turns[1]", "added", "major")


def test_added_cases_are_minor_and_removed_ones_major():
    more = Case.of("Do you sell helmets?", "Yes.", id="helmets")
    difference = diff(dataset(BASE), dataset(BASE, more))
    assert (difference.bump, difference.before, difference.after) == ("minor", 1, 2)
    assert [(change.case, change.field, change.kind) for change in difference.changes] == [
        ("helmets", None, "added")
    ]
    back = diff(dataset(BASE, more), dataset(BASE))
    assert (back.bump, back.changes[0].kind) == ("major", "removed")


def test_reordering_and_dataset_fields_are_a_patch_and_the_version_is_ignored():
    more = Case.of("Do you sell helmets?", "Yes.", id="helmets")
    old = dataset(BASE, more, version="1.0.0")
    assert diff(old, dataset(BASE, more, version="2.0.0")).bump == "none"
    assert [change.field for change in diff(old, dataset(more, BASE)).changes] == ["order"]
    assert [change.field for change in diff(old, dataset(BASE, more, description="x")).changes] == [
        "description"
    ]


def test_derived_id_that_follows_the_question_is_not_a_separate_change():
    old = dataset(Case.of("Do you repair e-bikes?", "Yes."))
    new = dataset(Case.of("Do you repair  e-bikes?", "Yes."))
    difference = diff(old, new)
    assert [(change.field, change.level) for change in difference.changes] == [
        ("turns[0].user", "patch")
    ]


def test_changed_id_is_a_patch():
    assert only(changed(id="returns")) == ("id", "changed", "patch")


def test_lost_fields_are_changes_of_their_level():
    losses = tuple(
        Loss(case="refund", field=field, reason="no equivalent in csv")
        for field in ("turns[0].tool_calls[0].id", "turns[0].id", "metadata.source", "$.eval_id")
    )
    difference = msgspec.structs.replace(diff(dataset(BASE), dataset(BASE)), lost=losses)
    assert with_losses(difference).bump == "patch"
    major = Loss(case="refund", field="turns[0].tool_calls", reason="no equivalent in csv")
    assert with_losses(msgspec.structs.replace(difference, lost=(major,))).bump == "major"


def test_value_nested_too_deeply_is_an_error_without_a_traceback():
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    old, new = changed(metadata={"k": deep}), changed(metadata={"k": [deep]})
    with pytest.raises(InputError, match="too deeply nested"):
        diff(dataset(old), dataset(new))


words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-9, 9) | words
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
calls = st.lists(st.builds(ToolCall, name=words, args=values), max_size=2).map(tuple)
turns = st.builds(
    Turn, user=st.none() | words, response=st.none() | words, tool_calls=st.none() | calls
)
cases = st.builds(
    Case,
    id=words,
    turns=st.lists(turns, max_size=3).map(tuple),
    context=st.none() | words,
    state=st.none() | st.dictionaries(words, values, max_size=2),
    metadata=st.dictionaries(words, values, max_size=2),
    tags=st.lists(words, max_size=2).map(tuple),
)
sets = st.lists(cases, max_size=5, unique_by=lambda one: one.id)


@settings(max_examples=60, deadline=None)
@given(sets)
def test_dataset_does_not_differ_from_itself(some: list[Case]):
    assert diff(dataset(*some), dataset(*some)).changes == ()


@settings(max_examples=60, deadline=None)
@given(sets, st.lists(cases, min_size=1, max_size=3, unique_by=lambda one: one.id))
def test_adding_cases_is_minor_and_removing_them_major(some: list[Case], more: list[Case]):
    ids = {case.id for case in some}
    added = [case for case in more if case.id not in ids]
    there = diff(dataset(*some), dataset(*some, *added))
    back = diff(dataset(*some, *added), dataset(*some))
    assert (there.bump, back.bump) == (("minor", "major") if added else ("none", "none"))


@settings(max_examples=60, deadline=None)
@given(sets, sets)
def test_reverse_diff_undoes_every_change_at_the_same_level(
    old_cases: list[Case], new_cases: list[Case]
):
    there, back = (
        diff(dataset(*old_cases), dataset(*new_cases)),
        diff(dataset(*new_cases), dataset(*old_cases)),
    )
    opposite = {"added": "removed", "removed": "added", "changed": "changed"}
    fields = sorted((c.field, c.kind, c.level) for c in there.changes if c.field)
    assert fields == sorted((c.field, opposite[c.kind], c.level) for c in back.changes if c.field)
    kinds = sorted(c.kind for c in there.changes if not c.field)
    assert kinds == sorted(opposite[c.kind] for c in back.changes if not c.field)


@settings(max_examples=40, deadline=None)
@given(sets, st.randoms(use_true_random=False))
def test_reordering_is_at_most_a_patch(some: list[Case], random: Any):
    shuffled = random.sample(some, len(some))
    assert diff(dataset(*some), dataset(*shuffled)).bump in ("none", "patch")


def test_highest_level_decides():
    assert bump_for(()) == "none"
