from __future__ import annotations

import pytest

from carob.errors import UsageError
from carob.schema import Case, Dataset, Json
from carob.versions.diff import diff
from carob.versions.review import case_reviews, review_status, unapproved_cases, with_review


def dataset(*cases: Case) -> Dataset:
    return Dataset(name="support", cases=cases)


def case(id: str, response: str = "Yes.", **metadata: Json) -> Case:
    return Case.of(f"What about {id}?", response, id=id, metadata=metadata)


@pytest.mark.parametrize("word", [None, 1, "", "aproved", ["approved"]])
def test_whatever_nobody_reviewed_is_a_draft(word: Json):
    assert review_status(case("a", review_status=word)) == "draft"
    assert review_status(case("a")) == "draft"


def test_a_review_says_who_and_when_and_keeps_the_lineage():
    old = dataset(
        case("a", source="tickets", ticket_id="SUP-1", date_added="2026-01-02"), case("b")
    )
    new = with_review(old, {"a"}, "approved", by="Lena Ortiz", at="2026-02-01")
    first, second = case_reviews(new)
    assert (first.status, first.reviewed_at, first.lineage.reviewed_by) == (
        "approved",
        "2026-02-01",
        "Lena Ortiz",
    )
    assert (first.lineage.source, first.lineage.ticket_id) == ("tickets", "SUP-1")
    assert second.status == "draft"


def test_a_case_that_is_not_there_cannot_be_reviewed():
    with pytest.raises(UsageError, match="unknown case 'c'"):
        with_review(dataset(case("a")), {"c"}, "approved", by="Lena", at="2026-02-01")


def test_drafts_are_named_with_their_status():
    found = dataset(
        case("a"), case("b", review_status="Approved"), case("c", review_status="reviewed")
    )
    assert list(unapproved_cases(found, None)) == ["a (draft)", "c (reviewed)"]


def test_an_approval_does_not_outlive_the_answer_that_it_was_given_for():
    old = dataset(case("a", "Yes.", review_status="approved", reviewed_at="2026-01-01"))
    edited = dataset(case("a", "No.", review_status="approved", reviewed_at="2026-01-01"))
    again = dataset(case("a", "No.", review_status="approved", reviewed_at="2026-02-01"))
    assert list(unapproved_cases(edited, diff(old, edited))) == ["a (changed since approval)"]
    assert list(unapproved_cases(again, diff(old, again))) == []
