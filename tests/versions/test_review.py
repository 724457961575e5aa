from __future__ import annotations

import pytest

from carob.errors import UsageError
from carob.schema import Case, Dataset, Json
from carob.versions.diff import diff
from carob.versions.review import case_reviews, list_unapproved, review_status, with_review


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
    new = with_review(old, {"a"}, "approved", by="Lena Ortiz", at="2026-02-01")
    first, second = case_reviews(new)
    assert (first.status, first.reviewed_at, first.lineage.reviewed_by) == (
        "approved",
        "2026-02-01",
        "Lena Ortiz",
    )
    assert (first.lineage.source, first.lineage.ticket_id) == ("tickets", "SUP-1")
    assert second.status == "draft"


def test_unknown_case_cannot_be_reviewed():
    with pytest.raises(UsageError, match="unknown case 'c'"):
        with_review(dataset(case("a")), {"c"}, "approved", by="Lena", at="2026-02-01")


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
