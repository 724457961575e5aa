"""The review status of cases, which is stored in well-known metadata keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import cast, get_args

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Dataset, Diff, Json, Review, ReviewStatus
from carob.schema.versions import PastReview
from carob.text.spelling import did_you_mean
from carob.versions.equivalence import escape_unprintable, normalize_text

STATUS, REVIEWER, DATE, HISTORY = "review_status", "reviewed_by", "reviewed_at", "review_history"
"""`review_history` is a text with a line for each earlier review: `2026-03-01 reviewed Lena Ortiz`.
A text, because other readers of golden files expect metadata to be texts."""
_SHOWN = 10
_POSITION = re.compile(r"#?(\d{1,9})")
_SHORTEST = 3
"""Letters of a part of a message: fewer name a case by accident."""
_UNKNOWN = "-"


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
            reviewed_at=_text(case, DATE),
            lineage=case.lineage,
            history=tuple(_past_reviews(case)),
            position=position,
            user=next((turn.user for turn in case.turns), None),
        )
        for position, case in enumerate(dataset.cases, start=1)
    )


def find_cases(dataset: Dataset, references: Iterable[str]) -> list[str]:
    """The ids of cases by their id, their position (`12` or `#12`, from 1), or a part of what the
    user says that occurs in no other case."""
    ids = {case.id for case in dataset.cases}
    return [name if name in ids else _find_case(dataset, name).id for name in references]


def _find_case(dataset: Dataset, reference: str) -> Case:
    cases = dataset.cases
    position = _POSITION.fullmatch(reference)
    if position and 1 <= int(position[1]) <= len(cases):
        return cases[int(position[1]) - 1]
    wanted = _comparable(reference)
    messages = [_comparable(" ".join(turn.user or "" for turn in case.turns)) for case in cases]
    texts = [*zip(cases, messages, strict=True)] if len(wanted) >= _SHORTEST else []
    matches = [case for case, text in texts if wanted in text]
    exact = [case for case, text in texts if wanted == text]
    if len(exact or matches) == 1:
        return (exact or matches)[0]
    listed = ", ".join(escape_unprintable(case.id) for case in (matches or cases)[:_SHOWN])
    if matches:
        message = f"{len(matches)} cases contain {reference!r}"
        raise UsageError(message, hint=f"name one of them: {listed}")
    if position:
        raise UsageError(f"no case {reference!r}: the dataset has {len(cases)} cases")
    hint = did_you_mean(reference, [case.id for case in cases]) or f"cases include: {listed}"
    raise UsageError(f"unknown case {reference!r}", hint=hint)


def _comparable(text: str) -> str:
    return normalize_text(text).casefold()


def with_review(
    dataset: Dataset, status: ReviewStatus, ids: Collection[str] | None, *, by: str, at: str
) -> Dataset:
    """Set the review status of cases, `None` for all. A review by somebody else, or with another
    status, becomes part of the history."""
    reviewer = " ".join(by.split())
    return dataset.with_cases(
        _review_case(case, status, reviewer, at) if ids is None or case.id in ids else case
        for case in dataset.cases
    )


def _review_case(case: Case, status: ReviewStatus, by: str, at: str) -> Case:
    before = _current_review(case)
    if before == PastReview(status=status, by=by, at=at):
        return case
    notes: dict[str, Json] = {STATUS: status, REVIEWER: by, DATE: at}
    if before and (before.status, before.by) != (status, by):
        notes[HISTORY] = "\n".join([*_history_lines(case), _format_review(before)])
    return msgspec.structs.replace(case, metadata={**case.metadata, **notes})


def _current_review(case: Case) -> PastReview | None:
    review = PastReview(status=_text(case, STATUS), by=_text(case, REVIEWER), at=_text(case, DATE))
    return review if review.status or review.by else None


def _history_lines(case: Case) -> list[str]:
    history = case.metadata.get(HISTORY)
    if history is not None and not isinstance(history, str):
        where = escape_unprintable(case.id)
        raise UsageError(f"metadata.{HISTORY} of case {where!r} is not a text", hint="rename it")
    return history.splitlines() if history else []


def _past_reviews(case: Case) -> Iterator[PastReview]:
    for line in (_text(case, HISTORY) or "").splitlines():
        at, _, rest = line.partition(" ")
        status, _, by = rest.partition(" ")
        known = [text if text not in ("", _UNKNOWN) else None for text in (status, by, at)]
        yield PastReview(*known)


def _format_review(review: PastReview) -> str:
    parts = (review.at and "T".join(review.at.split()), review.status, review.by)
    return " ".join(" ".join(part.split()) if part else _UNKNOWN for part in parts)


def _text(case: Case, key: str) -> str | None:
    value = case.metadata.get(key)
    return value if isinstance(value, str) and value.strip() else None


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
    review = {f"metadata.{key}" for key in (STATUS, REVIEWER, DATE, HISTORY)}
    reviewed_again = {change.case for change in diff.changes if change.field in review}
    return frozenset(
        change.case
        for change in diff.changes
        if change.case
        and change.field
        and change.level == "major"
        and change.case not in reviewed_again
    )
