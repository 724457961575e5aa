"""Failed cases or a session as regression cases in the draft of a dataset: first as they would be
written, then added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from carob.api.golden.drafts import add_new_cases, load_draft
from carob.api.golden.folder import GoldenFolder, find_file
from carob.api.golden.regression_case import (
    KEEP_TRACES_HINT,
    UNKNOWN_MESSAGES,
    Divergence,
    FailedCase,
    find_divergence,
    index_inputs,
    mask_regression,
)
from carob.api.regressions import read_failures
from carob.api.run_cases import find_datasets
from carob.api.serving.sessions import compare_session, keep_session
from carob.api.store import store_url
from carob.api.views.run_index import run_indexes
from carob.datasets.masking import Masks
from carob.errors import NotFoundError, RefusedError, UsageError
from carob.schema import Case, CaseResult, Run
from carob.store import open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head

_GOOD = ("passed", "info")


class Regression(NamedTuple):
    """A regression case as it would be written."""

    dataset: str
    failed: str
    """The name of the case or session that failed."""
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


class RegressionBatch(NamedTuple):
    """What becomes of some cases of a run."""

    dataset: str
    regressions: tuple[Regression, ...]
    left_out: tuple[tuple[str, str], ...]
    """Cases that cannot become regression cases, and why."""

    @property
    def addable(self) -> tuple[Regression, ...]:
        return tuple(entry for entry in self.regressions if entry.duplicate is None)


class _DraftCases:
    """Makes regression cases for the draft of a dataset, each only once."""

    def __init__(self, folder: GoldenFolder, dataset: str) -> None:
        self.dataset = dataset
        self._inputs = index_inputs(load_draft(folder, dataset).cases)

    def make(
        self, failure: FailedCase, run: str | None, place: Divergence | None = None
    ) -> Regression | None:
        divergence = place or find_divergence(failure)
        # Masks of its own: the same failure gives the same case, alone or with others.
        masked = mask_regression(failure, run, self._inputs, Masks(), divergence)
        if masked is None:
            return None
        if masked.duplicate is None:
            self._inputs |= index_inputs([masked.case])
        golden, trace = failure.golden, failure.trace
        total = golden.turns if golden else trace.turns if trace else ()
        return Regression(
            dataset=self.dataset,
            failed=failure.result.case or failure.result.trace or "",
            case=masked.case,
            divergence=divergence,
            turns=max(len(total), len(masked.case.turns)),
            parent=golden,
            is_masked=masked.is_masked,
            duplicate=masked.duplicate,
        )


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
    with open_store(store_url(store)) as database:
        number, stored = read_head(database, find_execution(database, run))
        places = run_indexes.get(database, number, stored).places.get(case, ())
    if not places:
        raise NotFoundError(f"{stored.id} has no case {case!r}", hint=f"see /runs/{stored.id}")
    place = places[min(max(attempt, 1), len(places)) - 1]
    batch = preview_failed_cases(folder, run, [place], dataset=dataset, store=store)
    if batch.regressions:
        return batch.regressions[0]
    ((name, why),) = batch.left_out
    if why == UNKNOWN_MESSAGES:
        raise RefusedError(why, hint=KEEP_TRACES_HINT)
    raise RefusedError(f"case {name!r} {why} in {stored.id}")


def preview_failed_cases(
    folder: GoldenFolder,
    run: str,
    places: Sequence[int],
    *,
    dataset: str | None = None,
    store: str | None = None,
) -> RegressionBatch:
    """Return the regression cases of the results at some positions of a run."""
    with open_store(store_url(store)) as database:
        number, stored = read_head(database, find_execution(database, run))
        known = len(run_indexes.get(database, number, stored).rows)
        if unknown := [place for place in places if not 0 <= place < known]:
            raise NotFoundError(f"{stored.id} has no case at position {unknown[0]}")
        golden = _golden_cases(stored, folder)
        failures = list(read_failures(database, number, places, golden))
    name = dataset or (stored.dataset.name if stored.dataset else None)
    if name is None:
        raise UsageError("the run has no golden data", hint="name the dataset to add the case to")
    draft = _DraftCases(folder, name)
    regressions: list[Regression] = []
    left_out: list[tuple[str, str]] = []
    for failure in failures:
        failed = failure.result.case or failure.result.trace or ""
        if failure.result.status in _GOOD:
            left_out.append((failed, "did not fail"))
        elif regression := draft.make(failure, stored.id):
            regressions.append(regression)
        else:
            left_out.append((failed, UNKNOWN_MESSAGES))
    return RegressionBatch(name, tuple(regressions), tuple(left_out))


def preview_failed_session(
    folder: GoldenFolder, session: str, dataset: str, *, turn: int | None = None, store: str
) -> Regression:
    """Return the regression case of a session in which the agent went wrong: in `turn` (from 1), or
    where it differs from the golden case that the session matches by id or first message."""
    pair, trace = compare_session(store, session, find_file(folder, dataset))
    if turn is not None and not 1 <= turn <= len(trace.turns):
        raise UsageError(f"no turn {turn}: the session has {len(trace.turns)}")
    result = CaseResult(pair.case.id if pair.case else None, session, "failed")
    place = Divergence(turn - 1, "chosen") if turn is not None else None
    regression = _DraftCases(folder, dataset).make(
        FailedCase(result, pair.case, trace), None, place
    )
    if regression is None:
        raise RefusedError(UNKNOWN_MESSAGES, hint=KEEP_TRACES_HINT)
    return regression


def add_regressions(folder: GoldenFolder, regressions: Sequence[Regression]) -> None:
    """Add regression cases to the draft of their dataset, for review: all of them or none."""
    for regression in regressions:
        if regression.duplicate is not None:
            message = f"case {regression.duplicate!r} of {regression.dataset} has the same messages"
            raise RefusedError(message, hint="it covers this failure; edit it instead")
    if regressions:
        cases = [regression.case for regression in regressions]
        add_new_cases(folder, regressions[0].dataset, cases)


def add_failed_session(
    folder: GoldenFolder, session: str, dataset: str, *, turn: int | None = None, store: str
) -> Regression:
    """Add the regression case of a session to the draft of a dataset, and never remove the session
    to make room."""
    regression = preview_failed_session(folder, session, dataset, turn=turn, store=store)
    add_regressions(folder, [regression])
    keep_session(store, session)
    return regression


def _golden_cases(run: Run, folder: GoldenFolder) -> list[Case]:
    """Return the cases of the release that the run names, then of the files that hold it."""
    if run.dataset is None:
        return []
    datasets = find_datasets(run.dataset.name, run.dataset.version, folder.path, folder.registry)
    return [case for cases in datasets for case in cases]
