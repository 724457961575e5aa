"""Turn the failures of a run into regression cases, cut to the turn where the agent went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from carob.api.append import load_existing, overwrite_hint, target_format
from carob.api.load import REGISTRY, PathName, load
from carob.api.regression_case import FailedCase, regression_case, user_inputs
from carob.api.run_view import decode_result, find_datasets, run_indexes
from carob.api.store import store_url
from carob.api.traces import add_cases
from carob.datasets.masking import Masks, mask_case
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
from carob.store import open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head, read_places, read_trace

_READ = 500


def capture_failed(
    name: str,
    dst: PathName,
    *,
    golden: PathName | None = None,
    to: str | None = None,
    append: bool = False,
    registry: Path = REGISTRY,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> CaptureReport:
    """Write a draft case for each failure of a stored run, cut after the earliest turn in which the
    agent differs from what was expected. Personal data and secrets are masked. Failures whose
    messages are those of a case in the dataset or in `dst` are duplicates. Without a golden case,
    nothing is expected yet: what the agent did was wrong. `progress` receives the number of
    failures that were read."""
    file, masks = Path(dst), Masks()
    existing = load_existing(file) if append else None
    with open_store(store_url(store)) as database:
        number, run = read_head(database, find_execution(database, name))
        rows = run_indexes.get(database, number, run).rows
        places = [row.place for row in rows if row.status == "failed"]
        known = _golden_cases(run, golden, registry)
        failures: list[FailedCase] = []
        for start in range(0, len(places), _READ):
            for place, body in read_places(database, number, places[start : start + _READ]).items():
                result = decode_result(body)
                trace = read_trace(database, number, place)
                failures.append(FailedCase(result, _find_golden(known, result), trace))
                progress(len(failures), len(places))
    if not failures:
        raise RefusedError(f"no case of {run.id} failed; nothing was written")
    form = target_format(to or (run.dataset.format if run.dataset else None), file, existing)
    if file.exists() and file.stat().st_size and not append:
        raise UsageError(f"{file} already exists", hint=overwrite_hint(file, form))
    inputs = {user_inputs(case) for case in (*known, *(existing.cases if existing else ()))}
    cases: list[Case] = []
    duplicates: list[str] = []
    problems: list[Problem] = []
    for failure in failures:
        case = regression_case(failure, run.id)
        if case is None:
            problems.append(_unusable(failure, run))
            continue
        masked = mask_case(case, masks)
        # The dataset may contain what is masked here, and an earlier capture what was masked then.
        if not inputs.isdisjoint({user_inputs(case), user_inputs(masked)}):
            duplicates.append(failure.result.trace or failure.result.case or case.id)
        else:
            inputs.add(user_inputs(masked))
            cases.append(masked)
    added = add_cases(cases, file, format=form) if cases else []
    return CaptureReport(
        format=form,
        cases=len(added),
        left_out=0,
        duplicates=tuple(duplicates),
        problems=tuple(problems),
    )


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
        (
            case
            for case in cases
            if case.id == result.case and result.digest in (None, expectation_digest(case))
        ),
        None,
    )


def _unusable(failure: FailedCase, run: Run) -> Problem:
    return Problem(
        where=f"{run.id}: {failure.result.case or failure.result.trace}",
        message="what the user said is not known; the failure cannot become a case",
        hint="`carob run --keep-traces` saves the traces with a run",
        severity="warning",
    )
