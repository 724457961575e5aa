"""The review status of cases, which is stored in well-known metadata keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast, get_args

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Dataset, Diff, Review, ReviewStatus
from carob.versions.equivalence import escape_unprintable

STATUS, REVIEWER, DATE = "review_status", "reviewed_by", "reviewed_at"
_SHOWN = 10


def review_status(case: Case) -> ReviewStatus:
    """The review status of a case; draft, if it was not reviewed."""
    value = case.metadata.get(STATUS)
    word = value.strip().lower() if isinstance(value, str) else "draft"
    return cast("ReviewStatus", word) if word in get_args(ReviewStatus) else "draft"


def case_reviews(dataset: Dataset) -> tuple[Review, ...]:
    """The review status and lineage of every case."""
    return tuple(
        Review(
            case=case.id,
            status=review_status(case),
            reviewed_at=at if isinstance(at := case.metadata.get(DATE), str) else None,
            lineage=case.lineage,
        )
        for case in dataset.cases
    )


def with_review(
    dataset: Dataset, ids: Collection[str], to: ReviewStatus, *, by: str, at: str
) -> Dataset:
    """Set the review status of cases."""
    all_ids = {case.id for case in dataset.cases}
    for name in ids:
        if name not in all_ids:
            some = ", ".join(escape_unprintable(case_id) for case_id in sorted(all_ids)[:_SHOWN])
            raise UsageError(f"unknown case {name!r}", hint=f"cases include: {some}")
    notes = {STATUS: to, REVIEWER: by, DATE: at}
    return dataset.with_cases(
        msgspec.structs.replace(case, metadata={**case.metadata, **notes})
        if case.id in ids
        else case
        for case in dataset.cases
    )


def list_unapproved(dataset: Dataset, diff: Diff | None) -> Iterator[str]:
    """The cases that are not approved in their current form, each with the reason."""
    stale = _cases_changed_since_review(diff) if diff else frozenset[str]()
    for case in dataset.cases:
        if review_status(case) != "approved":
            yield f"{escape_unprintable(case.id)} ({review_status(case)})"
        elif case.id in stale:
            yield f"{escape_unprintable(case.id)} (changed since approval)"


def _cases_changed_since_review(diff: Diff) -> frozenset[str]:
    """Cases with major changes since the last release whose review did not change."""
    review = {f"metadata.{key}" for key in (STATUS, REVIEWER, DATE)}
    reviewed_again = {change.case for change in diff.changes if change.field in review}
    return frozenset(
        change.case
        for change in diff.changes
        if change.case
        and change.field
        and change.level == "major"
        and change.case not in reviewed_again
    )
