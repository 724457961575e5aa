"""A failed case or a session as a regression case in the draft of a dataset, for people: first as
it would be written, then added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from carob.api.case_view import view_case
from carob.api.drafts import NEW, load_draft, put_case
from carob.api.golden import GoldenFolder, find_file
from carob.api.regression_case import (
    Divergence,
    FailedCase,
    find_divergence,
    regression_case,
    user_inputs,
)
from carob.api.sessions import compare_session, keep_session
from carob.datasets.masking import Masks, mask_case
from carob.errors import RefusedError, UsageError
from carob.schema import Case, CaseResult


class Regression(NamedTuple):
    """A regression case as it would be written."""

    dataset: str
    case: Case
    divergence: Divergence
    turns: int
    """Turns of the whole conversation, of which the case keeps those up to the divergence."""
    parent: Case | None
    """The golden case that states what is expected; without one, nothing is expected yet."""
    is_masked: bool
    """Whether personal data or secrets were replaced."""
    duplicate: str | None
    """The case of the dataset with the same messages, if there is one: nothing can be added."""


def preview_failed_case(
    folder: GoldenFolder,
    run: str,
    case: str,
    *,
    attempt: int = 1,
    dataset: str | None = None,
    store: str | None = None,
) -> Regression:
    """Return the regression case of a case that a run did not pass."""
    view = view_case(
        run,
        case,
        attempt=attempt,
        golden=folder.path,
        registry=folder.registry,
        store=store,
    )
    result = view.attempts[view.attempt - 1].result
    if result.status in ("passed", "info"):
        raise RefusedError(f"case {case!r} did not fail in {view.run.id}")
    name = dataset or (view.run.dataset.name if view.run.dataset else None)
    if name is None:
        raise UsageError("the run has no golden data", hint="name the dataset to add the case to")
    return _preview(folder, name, FailedCase(result, view.golden, view.trace), view.run.id)


def preview_failed_session(
    folder: GoldenFolder, session: str, dataset: str, *, turn: int | None = None, store: str
) -> Regression:
    """Return the regression case of a session in which the agent went wrong: in `turn` (from 1), or
    where it differs from the golden case that the session matches by id or first message."""
    pair, trace = compare_session(store, session, find_file(folder, dataset))
    result = CaseResult(pair.case.id if pair.case else None, session, "failed")
    if turn is None:
        return _preview(folder, dataset, FailedCase(result, pair.case, trace), None)
    if not 1 <= turn <= len(trace.turns):
        raise UsageError(f"no turn {turn}: the session has {len(trace.turns)}")
    place = Divergence(turn - 1, "chosen")
    return _preview(folder, dataset, FailedCase(result, pair.case, trace), None, place)


def add_failed_case(
    folder: GoldenFolder,
    run: str,
    case: str,
    *,
    attempt: int = 1,
    dataset: str | None = None,
    store: str | None = None,
) -> Regression:
    """Add the regression case of a failed case to the draft of a dataset, for review."""
    regression = preview_failed_case(
        folder, run, case, attempt=attempt, dataset=dataset, store=store
    )
    _add(folder, regression)
    return regression


def add_failed_session(
    folder: GoldenFolder, session: str, dataset: str, *, turn: int | None = None, store: str
) -> Regression:
    """Add the regression case of a session to the draft of a dataset, for review, and never remove
    the session to make room."""
    regression = preview_failed_session(folder, session, dataset, turn=turn, store=store)
    _add(folder, regression)
    keep_session(store, session)
    return regression


def _preview(
    folder: GoldenFolder,
    dataset: str,
    failure: FailedCase,
    run: str | None,
    place: Divergence | None = None,
) -> Regression:
    divergence = place or find_divergence(failure)
    whole = regression_case(failure, run, divergence=divergence)
    if whole is None:
        raise RefusedError(
            "what the user said is not known; the failure cannot become a case",
            hint="`carob run --keep-traces` saves the traces with a run",
        )
    masked = mask_case(whole, Masks())
    known = load_draft(folder, dataset).cases
    total = failure.golden.turns if failure.golden else failure.trace.turns if failure.trace else ()
    return Regression(
        dataset=dataset,
        case=masked,
        divergence=divergence,
        turns=max(len(total), len(whole.turns)),
        parent=failure.golden,
        is_masked=masked.turns != whole.turns or masked.context != whole.context,
        duplicate=_find_duplicate(known, (whole, masked)),
    )


def _find_duplicate(known: Sequence[Case], forms: Sequence[Case]) -> str | None:
    # The dataset may contain what is masked here, and an earlier capture what was masked then.
    inputs = {user_inputs(case) for case in forms}
    return next((case.id for case in known if user_inputs(case) in inputs), None)


def _add(folder: GoldenFolder, regression: Regression) -> None:
    if regression.duplicate is not None:
        message = f"case {regression.duplicate!r} of {regression.dataset} has the same messages"
        raise RefusedError(message, hint="it covers this failure; edit it instead")
    put_case(folder, regression.dataset, regression.case, seen=NEW)
