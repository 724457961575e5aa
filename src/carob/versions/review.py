"""Drafts and review: what a case's metadata says of it, under well-known keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import cast, get_args

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Dataset, Diff, Review, ReviewStatus
from carob.versions.equivalence import printable

STATUS, REVIEWER, DATE = "review_status", "reviewed_by", "reviewed_at"
_SHOWN = 10


def status(case: Case) -> ReviewStatus:
    """What became of a case in review; one that nobody has looked at is a draft."""
    found = case.metadata.get(STATUS)
    word = found.strip().lower() if isinstance(found, str) else "draft"
    return cast("ReviewStatus", word) if word in get_args(ReviewStatus) else "draft"


def reviews(dataset: Dataset) -> tuple[Review, ...]:
    """The review and the lineage of every case."""
    return tuple(
        Review(
            case=case.id,
            status=status(case),
            reviewed_at=at if isinstance(at := case.metadata.get(DATE), str) else None,
            lineage=case.lineage,
        )
        for case in dataset.cases
    )


def reviewed(
    dataset: Dataset, ids: Collection[str], to: ReviewStatus, *, by: str, at: str
) -> Dataset:
    """The dataset with another status of these cases."""
    known = {case.id for case in dataset.cases}
    for name in ids:
        if name not in known:
            some = ", ".join(printable(known) for known in sorted(known)[:_SHOWN])
            raise UsageError(f"no case {name!r}", hint=f"some of the cases are {some}")
    notes = {STATUS: to, REVIEWER: by, DATE: at}
    return dataset.with_cases(
        msgspec.structs.replace(case, metadata={**case.metadata, **notes})
        if case.id in ids
        else case
        for case in dataset.cases
    )


def unapproved(dataset: Dataset, found: Diff | None) -> Iterator[str]:
    """The cases that nobody has approved as they are, each with the reason."""
    stale = _changed_since(found) if found else frozenset[str]()
    for case in dataset.cases:
        if status(case) != "approved":
            yield f"{printable(case.id)} ({status(case)})"
        elif case.id in stale:
            yield f"{printable(case.id)} (changed since it was approved)"


def _changed_since(found: Diff) -> frozenset[str]:
    """Cases that mean something else than in the last release, under the approval they had then."""
    review = {f"metadata.{key}" for key in (STATUS, REVIEWER, DATE)}
    anew = {change.case for change in found.changes if change.field in review}
    return frozenset(
        change.case
        for change in found.changes
        if change.case and change.field and change.level == "major" and change.case not in anew
    )
