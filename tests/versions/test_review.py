from __future__ import annotations

import pytest

from carob.errors import UsageError
from carob.schema import Case, Dataset, Json, ReviewStatus
from carob.schema.versions import PastReview
from carob.versions.diff import diff
from carob.versions.review import (
    case_reviews,
    find_cases,
    list_unapproved,
    review_status,
    with_review,
)


def dataset(*cases: Case) -> Dataset:
    return Dataset(name="support", cases=cases)


def case(id: str, response: str = "Yes.", **metadata: Json) -> Case:
    return Case.of(f"What about {id}?", response, id=id, metadata=metadata)


@pytest.mark.parametrize("word", [None, 1, "", "aproved", ["approved"]])
def test_unreviewed_case_is_a_draft(word: Json):
    assert review_status(case("a", review_status=word)) == "draft"
    assert review_status(case("a")) == "draft"


def test_review_records_author_and_date_and_preserves_the_lineage():
    old = dataset(
        case("a", source="tickets", ticket_id="SUP-1", date_added="2026-01-02"), case("b")
    )
    new = with_review(old, "approved", {"a"}, by="Lena Ortiz", at="2026-02-01")
    first, second = case_reviews(new)
    assert (first.status, first.reviewed_at, first.lineage.reviewed_by) == (
        "approved",
        "2026-02-01",
        "Lena Ortiz",
    )
    assert (first.lineage.source, first.lineage.ticket_id) == ("tickets", "SUP-1")
    assert second.status == "draft"


def review(old: Dataset, status: ReviewStatus, by: str, at: str) -> Dataset:
    return with_review(old, status, None, by=by, at=at)


def test_earlier_reviews_become_history():
    first = review(dataset(case("a")), "reviewed", "Lena Ortiz", "2026-02-01")
    assert "review_history" not in first.cases[0].metadata
    second = review(first, "approved", "Sam\nLee", "2026-02-02")
    third = review(second, "draft", "Lena Ortiz", "2026-02-03")
    (result,) = case_reviews(third)
    assert result.history == (
        PastReview(status="reviewed", by="Lena Ortiz", at="2026-02-01"),
        PastReview(status="approved", by="Sam Lee", at="2026-02-02"),
    )
    assert third.cases[0].metadata["review_history"] == (
        "2026-02-01 reviewed Lena Ortiz\n2026-02-02 approved Sam Lee"
    )


def test_review_of_another_tool_becomes_history():
    old = dataset(case("a", reviewed_by="john.doe@example.com"))
    (result,) = case_reviews(review(old, "approved", "Lena", "2026-02-01"))
    assert result.history == (PastReview(status=None, by="john.doe@example.com", at=None),)


def test_same_review_changes_only_its_date():
    first = review(dataset(case("a")), "approved", "Lena", "2026-02-01")
    assert review(first, "approved", "Lena", "2026-02-01") == first
    later = review(first, "approved", "Lena", "2026-02-05")
    assert later.cases[0].metadata == {
        "review_status": "approved",
        "reviewed_by": "Lena",
        "reviewed_at": "2026-02-05",
    }


def test_history_that_is_not_ours_is_not_overwritten():
    old = dataset(case("a", reviewed_by="Sam", review_history=["2025"]))
    with pytest.raises(UsageError, match=r"metadata\.review_history of case 'a' is not a text"):
        review(old, "approved", "Lena", "2026-02-01")


MANY = dataset(
    Case.of("Do you repair bikes?", id="repair"),
    Case.of("Do you  repair  e-bikes?", id="e-repair"),
    Case.of("When are you open?", id="7"),
)


@pytest.mark.parametrize(
    ("reference", "id"),
    [
        ("repair", "repair"),
        ("2", "e-repair"),
        ("#3", "7"),
        ("7", "7"),
        ("when ARE", "7"),
        ("repair e-bikes", "e-repair"),
        ("do you repair bikes?", "repair"),
    ],
)
def test_case_is_found_by_id_position_or_text(reference: str, id: str):
    assert find_cases(MANY, [reference]) == [id]


@pytest.mark.parametrize(
    ("reference", "message", "hint"),
    [
        ("do you", "2 cases contain 'do you'", "name one of them: repair, e-repair"),
        ("4", "no case '4': the dataset has 3 cases", None),
        ("#0", "no case '#0'", None),
        ("repiar", "unknown case 'repiar'", "did you mean 'repair'?"),
        ("en", "unknown case 'en'", "cases include: repair, e-repair, 7"),
        ("", "unknown case ''", "cases include: repair, e-repair, 7"),
    ],
)
def test_unknown_case_is_an_error(reference: str, message: str, hint: str | None):
    with pytest.raises(UsageError, match=message) as caught:
        find_cases(MANY, [reference])
    assert caught.value.hint == hint


def test_drafts_are_listed_with_their_status():
    reviewed = dataset(
        case("a"), case("b", review_status="Approved"), case("c", review_status="reviewed")
    )
    assert list(list_unapproved(reviewed, None)) == ["a (draft)", "c (reviewed)"]


def test_approval_expires_if_the_answer_changes():
    old = dataset(case("a", "Yes.", review_status="approved", reviewed_at="2026-01-01"))
    edited = dataset(case("a", "No.", review_status="approved", reviewed_at="2026-01-01"))
    again = dataset(case("a", "No.", review_status="approved", reviewed_at="2026-02-01"))
    assert list(list_unapproved(edited, diff(old, edited))) == ["a (changed since approval)"]
    assert list(list_unapproved(again, diff(old, again))) == []
