"""Turn the failures of a run into regression cases, cut to the turn where the agent went wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from carob.api.golden.append import load_existing, overwrite_hint, target_format
from carob.api.golden.regression_case import (
    KEEP_TRACES_HINT,
    UNKNOWN_MESSAGES,
    FailedCase,
    index_inputs,
    mask_regression,
)
from carob.api.load import REGISTRY, PathName, load
from carob.api.run_cases import check_names, find_datasets
from carob.api.store import store_url
from carob.api.traces import add_cases
from carob.api.views.run_index import decode_result, run_indexes
from carob.datasets.masking import Masks
from carob.errors import RefusedError, UsageError
from carob.schema import (
    CaptureReport,
    Case,
    CaseResult,
    Problem,
    Run,
)
from carob.schema.digest import expectation_digest
from carob.schema.problem import ProgressListener, ignore
from carob.store import Database, open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head, read_places, read_trace

_READ = 500


def capture_failed(
    name: str,
    dst: PathName,
    *,
    cases: Collection[str] = (),
    golden: PathName | None = None,
    to: str | None = None,
    append: bool = False,
    registry: Path = REGISTRY,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> CaptureReport:
    """Write a draft case for each failure of a stored run, or for those of some `cases`, cut after
    the earliest turn in which the agent differs from what was expected. Personal data and secrets
    are masked. Failures whose messages are those of a case in the dataset or in `dst` are
    duplicates. Without a golden case, nothing is expected yet: what the agent did was wrong.
    `progress` receives the number of failures that were read."""
    file, masks = Path(dst), Masks()
    existing = load_existing(file) if append else None
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        index = run_indexes.get(database, number, run)
        check_names(run, "case", cases, index.places)
        failed = [row for row in index.rows if row.status == "failed"]
        places = [row.place for row in failed if not cases or row.case in cases]
        known = _golden_cases(run, golden, registry)
        failures: list[FailedCase] = []
        for failure in read_failures(database, number, places, known):
            failures.append(failure)
            progress(len(failures), len(places))
    if not failures:
        raise RefusedError(f"no case of {run.id} failed; nothing was written")
    form = target_format(to or (run.dataset.format if run.dataset else None), file, existing)
    if file.exists() and file.stat().st_size and not append:
        raise UsageError(f"{file} already exists", hint=overwrite_hint(file, form))
    inputs = index_inputs((*known, *(existing.cases if existing else ())))
    added: list[Case] = []
    duplicates: list[str] = []
    problems: list[Problem] = []
    for failure in failures:
        regression = mask_regression(failure, run.id, inputs, masks)
        if regression is None:
            problems.append(_unusable(failure, run))
        elif regression.duplicate is not None:
            duplicates.append(failure.result.trace or failure.result.case or regression.case.id)
        else:
            inputs |= index_inputs([regression.case])
            added.append(regression.case)
    written = add_cases(added, file, format=form) if added else []
    return CaptureReport(
        format=form,
        cases=len(written),
        left_out=0,
        duplicates=tuple(duplicates),
        problems=tuple(problems),
    )


def read_failures(
    database: Database, number: int, places: Sequence[int], golden: Sequence[Case]
) -> Iterator[FailedCase]:
    """Read the results at some positions of a run, with their golden cases and traces."""
    by_id: dict[str, list[Case]] = {}
    for case in golden:
        by_id.setdefault(case.id, []).append(case)
    for start in range(0, len(places), _READ):
        bodies = read_places(database, number, places[start : start + _READ])
        for place in places[start : start + _READ]:
            result = decode_result(bodies[place])
            trace = read_trace(database, number, place)
            yield FailedCase(result, _find_golden(by_id.get(result.case or "", ()), result), trace)


def _golden_cases(run: Run, golden: PathName | None, registry: Path) -> Sequence[Case]:
    if golden is not None:
        return load(golden).cases
    if run.dataset is None:
        return ()
    folder = registry.parent
    return next(find_datasets(run.dataset.name, run.dataset.version, folder, registry), ())


def _find_golden(cases: Sequence[Case], result: CaseResult) -> Case | None:
    """The case that a result was scored against, unless it expects something else by now."""
    return next(
        (case for case in cases if result.digest in (None, expectation_digest(case))),
        None,
    )


def _unusable(failure: FailedCase, run: Run) -> Problem:
    return Problem(
        where=f"{run.id}: {failure.result.case or failure.result.trace}",
        message=UNKNOWN_MESSAGES,
        hint=KEEP_TRACES_HINT,
        severity="warning",
    )
