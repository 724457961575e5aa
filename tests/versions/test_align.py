from __future__ import annotations

import time

from carob.schema import Case, Turn
from carob.versions.align import align


def case(user: str, response: str = "Yes.", *, id: str | None = None) -> Case:
    return Case.of(user, response, id=id)


def matches(old: list[Case], new: list[Case]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    aligned = align(old, new)
    return [*aligned.pairs], aligned.removed, aligned.added


def test_ids_decide_even_if_the_question_changed():
    old, new = [case("Open?", id="a")], [case("Closed?", id="a")]
    assert [*align(old, new).pairs] == [(0, 0)]


def test_case_with_a_different_id_is_matched_by_its_question():
    aligned = matches([case("Open?", id="a")], [case("Open?", id="b")])
    assert aligned == ([(0, 0)], [], [])


def test_rephrased_question_is_matched_to_the_closest_one():
    old = [case("Where is my order?"), case("Do you repair e-bikes in winter?")]
    new = [case("Do you repair ebikes in winter?"), case("Where is my order now?")]
    assert sorted(align(old, new).pairs) == [(0, 1), (1, 0)]


def test_two_equally_close_questions_are_not_matched():
    old = [case("Do you repair wheel A today?")]
    new = [case("Do you repair wheel B today?"), case("Do you repair wheel C today?")]
    assert matches(old, new) == ([], [0], [0, 1])


def test_cases_with_explicit_ids_are_never_matched_by_similarity():
    old, new = [case("Price of part 1?", id="a")], [case("Price of part 2?", id="b")]
    assert matches(old, new) == ([], [0], [0])


def test_unrelated_questions_are_not_matched():
    assert not align([case("Where is my order?")], [case("Do you sell helmets?")]).pairs


def test_rows_with_the_same_question_may_be_reordered():
    first, second = case("Open?", "Yes."), case("Open?", "On Sundays, no.")
    old = [first, Case(id=f"{second.id}-2", turns=second.turns)]
    new = [second, Case(id=f"{first.id}-2", turns=first.turns)]
    assert sorted(align(old, new).pairs) == [(0, 1), (1, 0)]


def test_cases_without_text_are_matched_only_by_id():
    old, new = [Case(id="a", turns=(Turn(),))], [Case(id="b", turns=(Turn(), Turn()))]
    assert matches(old, new) == ([], [0], [0])


def test_many_rephrased_questions_are_matched_in_linear_time():
    old = [
        case(f"What does part number {number} of model {number % 97} cost?")
        for number in range(3000)
    ]
    new = [
        case(f"What does part number {number} of model {number % 97} cost now?")
        for number in range(3000)
    ]
    started = time.process_time()
    assert len(align(old, new).pairs) > 2900
    assert time.process_time() - started < 20
