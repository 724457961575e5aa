from __future__ import annotations

from carob.schema import Case, Dataset
from carob.versions.changelog import change_bullets, format_entry, initial_bullets, prepend_entry
from carob.versions.diff import diff
from carob.versions.review import with_review


def dataset(*cases: Case) -> Dataset:
    return Dataset(name="support", cases=cases)


def case(id: str, response: str = "Yes.", *tags: str) -> Case:
    return Case.of(f"What about {id}?", response, id=id, tags=tags)


def test_first_release_describes_its_cases():
    assert initial_bullets(
        dataset(case("a", "Yes.", "billing"), case("b", "No.", "billing", "account"))
    ) == [
        "Initial release",
        "2 examples covering: billing, account",
    ]


def test_added_changed_and_removed_cases_are_counted_and_listed():
    old = dataset(case("a"), case("b", "Yes.", "x"), case("gone-case", "Farewell."))
    new = dataset(
        case("a", "No."), case("b", "Yes.", "x", "escalation"), case("c", "Hm.", "edge-case")
    )
    assert change_bullets(diff(old, new), new) == [
        "Added 1 example covering: edge-case (c)",
        "Removed 1 example (gone-case)",
        "Changed the expected answer in 1 example (a)",
        'Added the tag "escalation" in 1 example (b)',
        "Examples: 3 → 3",
    ]


def test_case_with_a_derived_id_is_listed_by_its_question():
    question = Case.of("Do you repair e-bikes?", "Yes.")
    assert (
        '("Do you repair e-bikes?")'
        in change_bullets(diff(dataset(), dataset(question)), dataset(question))[0]
    )


def test_wording_changes_are_distinguished_from_meaning_changes():
    old, new = dataset(case("a", "Yes.")), dataset(case("a", "Yes. "))
    assert change_bullets(diff(old, new), new)[0] == (
        "Corrected the wording of the expected answer in 1 example (a)"
    )


def test_review_is_one_line():
    old, new = dataset(case("a")), dataset(case("a"))
    new = with_review(new, "approved", {"a"}, by="Lena", at="2026-02-01")
    assert change_bullets(diff(old, new), new)[0] == "Changed the review in 1 example (a)"


def test_only_the_first_of_many_cases_are_listed():
    new = dataset(*(case(f"n{number}", str(number)) for number in range(9)))
    assert (
        change_bullets(diff(dataset(), new), new)[0]
        == "Added 9 examples (n0, n1, n2, n3, n4, and 4 more)"
    )


def test_newest_entry_comes_first():
    before = prepend_entry(
        "Support", format_entry("1.0.0", "2026-01-15", ["Initial release"]), None
    )
    assert prepend_entry(
        "Support", format_entry("1.1.0", "2026-01-20", ["Examples: 25 → 30"]), before
    ) == (
        "# Support Changelog\n\n## v1.1.0 (2026-01-20)\n- Examples: 25 → 30\n\n"
        "## v1.0.0 (2026-01-15)\n- Initial release\n"
    )


def test_name_cannot_break_out_of_its_line():
    assert prepend_entry(
        "a\n\n## v9.9.9", format_entry("1.0.0", "2026-01-15", ["x\n- y"]), None
    ) == ("# a ## v9.9.9 Changelog\n\n## v1.0.0 (2026-01-15)\n- x - y\n")
