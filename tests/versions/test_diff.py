from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carob.errors import InputError
from carob.schema import Case, CaseSession, Dataset, Loss, Rubric, ToolCall, Trace, Turn
from carob.versions.diff import diff, required_bump, with_losses

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


def test_a_new_recorded_answer_is_a_patch_under_its_json_name():
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
def test_another_meaning_is_major(new: Case, field: str):
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
def test_the_same_meaning_in_other_words_is_a_patch(new: Case, field: str):
    found, _, level = only(new)
    assert (found, level) == (field, "patch")


def test_an_expectation_that_appears_or_disappears_is_major():
    assert only(changed(agents=("returns",))) == ("agents", "added", "major")
    assert only(changed(state=None)) == ("state", "removed", "major")
    assert only(changed(state={"ticket": "open", "note": None})) == ("state.note", "added", "major")


def test_to_expect_no_calls_is_not_to_expect_nothing():
    none = changed(turns=(Turn(user="Hi"),))
    empty = changed(turns=(Turn(user="Hi", tool_calls=()),))
    assert diff(dataset(none), dataset(empty)).bump == "major"


def test_a_turn_more_is_major():
    new = changed(turns=(*BASE.turns, Turn(user="Thanks!")))
    assert only(new) == ("turns[1]", "added", "major")


def test_added_cases_are_minor_and_removed_ones_major():
    more = Case.of("Do you sell helmets?", "Yes.", id="helmets")
    found = diff(dataset(BASE), dataset(BASE, more))
    assert (found.bump, found.before, found.after) == ("minor", 1, 2)
    assert [(change.case, change.field, change.kind) for change in found.changes] == [
        ("helmets", None, "added")
    ]
    back = diff(dataset(BASE, more), dataset(BASE))
    assert (back.bump, back.changes[0].kind) == ("major", "removed")


def test_order_and_the_dataset_itself_are_a_patch_and_its_version_is_nothing():
    more = Case.of("Do you sell helmets?", "Yes.", id="helmets")
    old = dataset(BASE, more, version="1.0.0")
    assert diff(old, dataset(BASE, more, version="2.0.0")).bump == "none"
    assert [change.field for change in diff(old, dataset(more, BASE)).changes] == ["order"]
    assert [change.field for change in diff(old, dataset(BASE, more, description="x")).changes] == [
        "description"
    ]


def test_a_derived_id_that_follows_the_question_is_no_change_of_its_own():
    old = dataset(Case.of("Do you repair e-bikes?", "Yes."))
    new = dataset(Case.of("Do you repair  e-bikes?", "Yes."))
    found = diff(old, new)
    assert [(change.field, change.level) for change in found.changes] == [("turns[0].user", "patch")]


def test_an_id_that_somebody_changed_is_a_patch():
    assert only(changed(id="returns")) == ("id", "changed", "patch")


def test_what_a_format_lost_counts_once_it_is_gone_for_good():
    losses = tuple(
        Loss(case="refund", field=field, reason="csv has no place for it")
        for field in ("turns[0].tool_calls[0].id", "turns[0].id", "metadata.source", "$.eval_id")
    )
    found = msgspec.structs.replace(diff(dataset(BASE), dataset(BASE)), lost=losses)
    assert with_losses(found).bump == "patch"
    major = Loss(case="refund", field="turns[0].tool_calls", reason="csv has no place for it")
    assert with_losses(msgspec.structs.replace(found, lost=(major,))).bump == "major"


def test_a_value_without_a_bottom_is_an_error_and_no_traceback():
    deep: list[Any] = []
    for _ in range(800):
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
def test_nothing_differs_from_itself(some: list[Case]):
    assert diff(dataset(*some), dataset(*some)).changes == ()


@settings(max_examples=60, deadline=None)
@given(sets, st.lists(cases, min_size=1, max_size=3, unique_by=lambda one: one.id))
def test_adding_cases_is_minor_whatever_they_say_and_undoing_it_major(
    some: list[Case], more: list[Case]
):
    known = {case.id for case in some}
    added = [case for case in more if case.id not in known]
    there = diff(dataset(*some), dataset(*some, *added))
    back = diff(dataset(*some, *added), dataset(*some))
    assert (there.bump, back.bump) == (("minor", "major") if added else ("none", "none"))


@settings(max_examples=60, deadline=None)
@given(sets, sets)
def test_the_way_back_undoes_every_change_at_the_same_level(one: list[Case], other: list[Case]):
    there, back = diff(dataset(*one), dataset(*other)), diff(dataset(*other), dataset(*one))
    opposite = {"added": "removed", "removed": "added", "changed": "changed"}
    fields = sorted((c.field, c.kind, c.level) for c in there.changes if c.field)
    assert fields == sorted((c.field, opposite[c.kind], c.level) for c in back.changes if c.field)
    whole = sorted(c.kind for c in there.changes if not c.field)
    assert whole == sorted(opposite[c.kind] for c in back.changes if not c.field)


@settings(max_examples=40, deadline=None)
@given(sets, st.randoms(use_true_random=False))
def test_reordering_is_at_most_a_patch(some: list[Case], random: Any):
    shuffled = random.sample(some, len(some))
    assert diff(dataset(*some), dataset(*shuffled)).bump in ("none", "patch")


def test_the_highest_level_decides():
    assert required_bump(()) == "none"
