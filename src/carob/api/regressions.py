"""Turn the failures of a run into regression cases, cut to the turn where the agent went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.append import load_existing, overwrite_hint, target_format
from carob.api.case_view import TurnView, align_turns
from carob.api.load import REGISTRY, PathName, load
from carob.api.run_view import decode_result, find_datasets, run_indexes
from carob.api.store import store_url
from carob.api.traces import add_cases
from carob.datasets.masking import Masks, mask_case
from carob.errors import RefusedError, UsageError
from carob.schema import (
    CaptureReport,
    Case,
    CaseResult,
    Json,
    Problem,
    Run,
    Trace,
    Turn,
    content_id,
)
from carob.schema.digest import expectation_digest
from carob.store import open_store
from carob.store.history import find_execution
from carob.store.run_pages import read_head, read_places, read_trace
from carob.versions.review import STATUS

_READ = 500


class FailedCase(NamedTuple):
    """A result that failed, the golden case it was scored against, and its trace if saved."""

    result: CaseResult
    golden: Case | None
    trace: Trace | None


def capture_failed(
    name: str,
    dst: PathName,
    *,
    golden: PathName | None = None,
    to: str | None = None,
    append: bool = False,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> CaptureReport:
    """Write a draft case for each failure of a stored run, cut after the earliest turn in which the
    agent differs from what was expected. Personal data and secrets are masked. Failures whose
    messages are those of a case in the dataset or in `dst` are duplicates. Without a golden case,
    nothing is expected yet: what the agent did was wrong."""
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
    if not failures:
        raise RefusedError(f"no case of {run.id} failed; nothing was written")
    form = target_format(to or (run.dataset.format if run.dataset else None), file, existing)
    if file.exists() and file.stat().st_size and not append:
        raise UsageError(f"{file} already exists", hint=overwrite_hint(file, form))
    inputs = {_input(case) for case in (*known, *(existing.cases if existing else ()))}
    cases: list[Case] = []
    duplicates: list[str] = []
    problems: list[Problem] = []
    for failure in failures:
        case = _regression(failure, run)
        if case is None:
            problems.append(_unusable(failure, run))
            continue
        masked = mask_case(case, masks)
        # The dataset may contain what is masked here, and an earlier capture what was masked then.
        if not inputs.isdisjoint({_input(case), _input(masked)}):
            duplicates.append(failure.result.trace or failure.result.case or case.id)
        else:
            inputs.add(_input(masked))
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


class Divergence(NamedTuple):
    """The earliest turn in which an agent differs from what was expected, and how."""

    turn: int
    what: str


def find_divergence(failure: FailedCase) -> Divergence:
    """Find the earliest turn that differs: by its tool calls, by the score of the turn, or by the
    answer. If none is known to differ, it is the last one."""
    views = list(align_turns(failure.golden, failure.trace, failure.result))
    candidates = [*_differing_calls(views), *_failing_scores(failure.result, len(views))]
    if not candidates:
        candidates = list(_differing_answers(views))
    return min(candidates, default=Divergence(max(len(views) - 1, 0), "not located"))


def _differing_calls(views: Sequence[TurnView]) -> Iterator[Divergence]:
    for index, view in enumerate(views):
        step = next((step for step in view.script or () if step.kind != "keep"), None)
        call = step and (step.expected or step.actual)
        if step and call:
            yield Divergence(index, f"{step.kind} call of {call.name}")


def _failing_scores(result: CaseResult, turns: int) -> Iterator[Divergence]:
    for score in result.scores:
        if score.status != "failed" or score.threshold is None:
            continue
        for index, value in enumerate(score.turns[:turns]):
            if value is not None and value < score.threshold:
                yield Divergence(index, f"{score.metric} {value:g} < {score.threshold:g}")
                break


def _differing_answers(views: Sequence[TurnView]) -> Iterator[Divergence]:
    for index, view in enumerate(views):
        expected = view.expected.response if view.expected else None
        actual = view.actual.response if view.actual else None
        if expected is not None and expected != actual:
            yield Divergence(index, "another answer")


def _regression(failure: FailedCase, run: Run) -> Case | None:
    """The case up to the divergence; `None` if what the user said is not known."""
    result, golden, trace = failure
    divergence = find_divergence(failure)
    if golden is not None:
        whole = msgspec.structs.replace(golden, origin=None, recorded=None)
    else:
        source = trace.turns if trace else [Turn(user=turn.user) for turn in result.exchanges]
        whole = Case(id="", turns=tuple(Turn(user=turn.user) for turn in source))
    turns = whole.turns[: divergence.turn + 1]
    if not turns or any(turn.user is None for turn in turns):
        return None
    if len(turns) < len(whole.turns):
        # What was expected at the end, or of the whole, is not known for a part.
        whole = msgspec.structs.replace(
            whole,
            tool_calls=None,
            trajectory=None,
            state=None,
            contains=None,
            contract=None,
            goal=None,
            reference={},
            rubrics=(),
        )
    users = [turn.user or "" for turn in turns]
    digest = blake2b("\0".join(users).encode(), digest_size=3).hexdigest()
    base = result.case or content_id(*users)
    return msgspec.structs.replace(
        whole,
        id=f"{base}-regression-{digest}",
        turns=turns,
        metadata=_lineage(failure, run, divergence),
        created_at=None,
        updated_at=None,
    )


def _lineage(failure: FailedCase, run: Run, divergence: Divergence) -> dict[str, Json]:
    result = failure.result
    failed = [score.metric for score in result.scores if score.status == "failed"]
    lineage: dict[str, Json] = {
        "source": "failed run",
        "run": run.id,
        "trace_id": result.trace,
        "parent": result.case,
        "divergence": f"turn {divergence.turn + 1}: {divergence.what}",
        "failed_metrics": ", ".join(failed),
        STATUS: "draft",
    }
    return {key: value for key, value in lineage.items() if value}


def _unusable(failure: FailedCase, run: Run) -> Problem:
    return Problem(
        where=f"{run.id}: {failure.result.case or failure.result.trace}",
        message="what the user said is not known; the failure cannot become a case",
        hint="`carob run --keep-traces` saves the traces with a run",
        severity="warning",
    )


def _input(case: Case) -> tuple[str | None, ...]:
    return (case.context, *(turn.user for turn in case.turns))
