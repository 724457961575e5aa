"""Use-cases of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.analysis.summary import summarise, verdict
from carob.api.clock import now
from carob.api.cores import cores
from carob.api.judging import build_metric, judge_pool
from carob.api.load import PathName, as_list, load_golden
from carob.api.traces import expecting_recordings, recorded_pairs
from carob.config import MetricChoice
from carob.errors import StoppedError, UsageError
from carob.judges.pool import JudgePool
from carob.policy.profile import Profile, find_profile, load_profile, load_profiles
from carob.policy.verdict import check_scales
from carob.runner.done import Done
from carob.runner.execute import count, execute
from carob.runner.journal import Journal
from carob.runner.plan import Plan, Use
from carob.runner.work import Batch, Work
from carob.schema import (
    Case,
    CaseResult,
    CostEstimate,
    Dataset,
    JudgeSettings,
    MetricSpec,
    Run,
    RunDataset,
    UnmatchedTrace,
)
from carob.schema.digest import dataset_digest, expectation_digest, run_id
from carob.schema.outcome import check_threshold
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.traces.read import read_shard, shards

DEFAULT_METRICS = (
    MetricChoice(name="tool_trajectory_avg_score"),
    MetricChoice(name="response_match_score"),
)
"""What is measured when nobody says what: ADK's own defaults."""
_encode = msgspec.json.Encoder().encode
_ROWS = 500
"""Cases with their recordings that are scored in one go."""
_SMALL = 16 * 2**20
"""Bytes of recordings for which more processes are not worth starting."""
_PATIENCE = 1.0
"""Seconds of scoring for which they are not, either."""


def run(
    traces: PathName | Iterable[PathName] = (),
    *,
    golden: PathName | Dataset | None = None,
    metrics: str | Sequence[str | MetricChoice] = (),
    profile: str | None = None,
    profiles: Sequence[str] = (),
    cross: bool = False,
    jobs: int | None = None,
    resume: bool = False,
    judge: str | JudgeSettings | None = None,
    answers: str | None = None,
    progress: ProgressListener = ignore,
    reading: ProgressListener = ignore,
    report: ProblemListener = ignore,
) -> Run:
    """Score traces against golden data; without traces, the recordings that the data carries.

    Judges ask `judge`; their answers are kept in the store `answers`, and not asked for again.
    `reading` is told how many bytes of the traces are read, `progress` how much is scored.
    """
    paths = [Path(path) for path in as_list(traces)]
    dataset = load_golden(golden) if golden is not None else None
    panel = judge_pool(judge, answers)
    plan = make_plan(
        as_list(metrics) or DEFAULT_METRICS,
        dataset,
        Profiles(profile, load_profiles(profiles)),
        panel,
    )
    processes = jobs or _processes(paths)
    work = Work(plan=plan, cases=dataset.cases if dataset else None, crossed=cross)
    journal = Journal(_journal_path(paths, dataset, work), resume=resume)
    try:
        batches = _batches(paths, dataset, processes, report, reading)
        patience = 0.0 if jobs else _PATIENCE
        done = execute(
            work, batches, jobs=processes, journal=journal, progress=progress, patience=patience
        )
    except KeyboardInterrupt as error:
        journal.flush()
        raise _stopped(journal) from error
    journal.close()
    return _run(plan, dataset, done, stopped=panel.stopped)


def _stopped(journal: Journal) -> StoppedError:
    if not journal.kept:
        return StoppedError("stopped before anything was scored")
    return StoppedError("stopped; what is done is kept", hint="go on with --resume")


def estimate(
    traces: PathName | Iterable[PathName] = (),
    *,
    golden: PathName | Dataset | None = None,
    metrics: str | Sequence[str | MetricChoice] = (),
    cross: bool = False,
    judge: str | JudgeSettings | None = None,
    answers: str | None = None,
    report: ProblemListener = ignore,
) -> CostEstimate:
    """What the judges of such a run would be asked, and nobody is."""
    paths = [Path(path) for path in as_list(traces)]
    dataset = load_golden(golden) if golden is not None else None
    panel = judge_pool(judge, answers, dry=True)
    plan = make_plan(as_list(metrics) or DEFAULT_METRICS, dataset, Profiles(None, {}), panel)
    work = Work(plan=plan, cases=dataset.cases if dataset else None, crossed=cross)
    return CostEstimate(count(work, _batches(paths, dataset, 1, report)).spending)


class _File(NamedTuple):
    """What tells a file from another without reading it; nothing of one that is not there, which
    the reader names in its own words."""

    path: str
    size: int = 0
    changed: int = 0

    @classmethod
    def at(cls, path: Path) -> _File:
        try:
            about = path.stat()
        except OSError:
            return cls(str(path))
        return cls(str(path.resolve()), about.st_size, about.st_mtime_ns)


def _processes(paths: Sequence[Path]) -> int:
    small = sum(_File.at(path).size for path in paths) < _SMALL
    return 1 if small else cores()


class Profiles(NamedTuple):
    """How cases are judged: all by one profile, or each by the one that it names."""

    given: str | None
    own: Mapping[str, Profile]

    def of(self, cases: Iterable[Case]) -> dict[str, Profile]:
        made: dict[str, Profile] = {}
        for case in cases:
            if case.profile and case.profile not in made:
                made[case.profile] = self._named_by(case, case.profile)
        return {name: made[name] for name in sorted(made)}

    def _named_by(self, case: Case, name: str) -> Profile:
        try:
            return find_profile(name, self.own)
        except UsageError as error:
            where = f"case {case.id!r}"
            raise UsageError(error.message, where=where, hint=error.hint) from error


def make_plan(
    choices: Sequence[str | MetricChoice],
    dataset: Dataset | None,
    profiles: Profiles,
    panel: JudgePool,
) -> Plan:
    """Everything that can be wrong with names and parameters is wrong here."""
    uses: list[Use] = []
    for named in choices:
        choice = MetricChoice(name=named) if isinstance(named, str) else named
        metric = build_metric(choice)
        threshold = metric.threshold if choice.threshold is None else choice.threshold
        if threshold is not None:
            check_threshold(metric.name, threshold, metric.scale)
        uses.append(Use(metric=metric, threshold=threshold, asker=panel.asker(metric)))
    given = load_profile(profiles.given) if profiles.given else None
    by_case = {} if given or not dataset else profiles.of(dataset.cases)
    for profile in [given] if given else by_case.values():
        check_scales(profile, [use.to_record() for use in uses])
    return Plan(uses=tuple(uses), profiles=by_case, profile=given)


def _batches(
    paths: Sequence[Path],
    dataset: Dataset | None,
    jobs: int,
    report: ProblemListener,
    reading: ProgressListener = ignore,
) -> list[Batch]:
    """The traces in files; without files, the recordings that the golden data carries."""
    if not paths:
        return _row_batches(dataset)
    with expecting_recordings(paths):
        found = shards(paths, jobs, report=report, progress=reading)
    return [partial(read_shard, shard) for shard in found]


def _row_batches(dataset: Dataset | None) -> list[Batch]:
    """The cases that carry what an agent did; their recordings need no pairing."""
    cases = [case for case in dataset.cases if case.recording] if dataset else []
    if not cases:
        raise UsageError(
            "no recordings to score",
            hint="give trace files, or golden data that carries recordings (explain, simulation)",
        )
    starts = range(0, len(cases), _ROWS)
    return [partial(recorded_pairs, cases[start : start + _ROWS]) for start in starts]


def _journal_path(paths: Sequence[Path], dataset: Dataset | None, work: Work) -> Path:
    """A name that another run gets only if it would do the same."""
    plan = work.plan
    made = {
        "files": [_File.at(path) for path in paths],
        "dataset": dataset_digest(dataset) if dataset else None,
        "metrics": [use.to_record() for use in plan.uses],
        "profiles": [plan.profile, plan.profiles],
        "crossed": work.crossed,
    }
    return Path(".carob") / "journal" / f"{_fingerprint(made)}.jsonl"


def _fingerprint(value: object) -> str:
    return blake2b(msgspec.json.encode(value, order="deterministic"), digest_size=8).hexdigest()


def _run(plan: Plan, dataset: Dataset | None, done: Done, *, stopped: str | None) -> Run:
    cases = {case.id: case for case in dataset.cases} if dataset else {}
    results = _fingerprinted(done.results, cases)
    uses = tuple(use.to_record() for use in plan.uses)
    made = make_run(dataset and about(dataset), uses, results, cases, unmatched=done.unmatched)
    if not plan.judged:
        return made
    made = msgspec.structs.replace(made, spending=done.spending)
    if stopped is None:
        return made
    return msgspec.structs.replace(made, verdict="inconclusive", stopped=stopped)


def about(dataset: Dataset) -> RunDataset:
    """Which golden data a run is made with."""
    return RunDataset(
        name=dataset.name,
        version=dataset.version,
        digest=dataset_digest(dataset),
        format=dataset.origin.format.partition(".")[0] if dataset.origin else None,
    )


def make_run(
    dataset: RunDataset | None,
    metrics: tuple[MetricSpec, ...],
    results: tuple[CaseResult, ...],
    cases: Mapping[str, Case],
    *,
    unmatched: tuple[UnmatchedTrace, ...] = (),
) -> Run:
    """The run that has these results."""
    summary = summarise(results, cases)
    return Run(
        id=run_id(_encode(dataset), _encode(metrics), map(_encode, results)),
        created_at=now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        verdict=verdict(summary),
        dataset=dataset,
        metrics=metrics,
        cases=results,
        summary=summary,
        unmatched=unmatched,
    )


def _fingerprinted(
    results: Sequence[CaseResult], cases: Mapping[str, Case]
) -> tuple[CaseResult, ...]:
    """The results with the fingerprints of their cases, by which other runs are aligned."""
    digests: dict[str | None, str] = {id: expectation_digest(case) for id, case in cases.items()}
    return tuple([msgspec.structs.replace(one, digest=digests.get(one.case)) for one in results])


def passed(made: Run, *, allow_unscored: bool = False) -> bool:
    """Is the run good? One in which nothing was scored never is."""
    counts = made.summary.cases
    if made.verdict == "passed":
        return True
    return (
        allow_unscored
        and not made.stopped
        and counts.passed > 0
        and not counts.failed
        and not counts.errors
    )
