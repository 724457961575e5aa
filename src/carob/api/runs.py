"""Runs: score traces against golden data, save the result, and prepare its report.

`evaluate` is the use-case behind `carob run` and `carob.run`; tests of golden cases assemble their
run from the same parts (`plan_run`, `assemble_run`, `save_run`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path

import msgspec

from carob.api.assemble import add_digests, assemble_run, dataset_info
from carob.api.default_metrics import ChosenMetrics, add_default_metrics
from carob.api.judges import judge_pool
from carob.api.load import PathName, as_list
from carob.api.plan import Profiles, make_plan, plan_run
from carob.api.run_request import Listeners, RunRequest
from carob.api.selection import SelectedCases, load_selected, make_selection
from carob.api.settings import NO_CONFIG, as_texts, settings
from carob.api.sources import FileState, trace_batches, worker_count
from carob.api.store import git_labels, save_run, store_url
from carob.config import Config, MetricChoice
from carob.errors import CarobError, StoppedError, UsageError
from carob.files.scratch import make_scratch_folder
from carob.judges.pool import JudgePool
from carob.report.forms import ReportInputs
from carob.runner.execute import estimate_usage, execute
from carob.runner.job import Batch, BatchResult, ScoringJob
from carob.runner.journal import Journal
from carob.runner.plan import Plan
from carob.runner.spool import TraceSpool
from carob.schema import (
    CostEstimate,
    Dataset,
    Json,
    JudgeSettings,
    Problem,
    Run,
    Trace,
)
from carob.schema.digest import dataset_digest
from carob.schema.history import RunEntry
from carob.schema.problem import ProblemListener, ProgressListener, ignore

_PATIENCE = 1.0
"""Seconds of scoring that are not worth starting worker processes for."""


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and what reports need besides it."""

    run: Run
    golden: PathName | Dataset | None
    store: str | None
    """Where the run is saved, if it is."""

    def passed(self, *, allow_unscored: bool = False) -> bool:
        """Return whether the run passed."""
        return passed(self.run, allow_unscored=allow_unscored)

    def report_inputs(self, by: Sequence[str] = ()) -> ReportInputs:
        """Return the inputs of a report. What only some forms need is loaded by those forms."""
        from carob.api.metrics import metrics  # late: only some forms need it

        return ReportInputs(
            self.run,
            by,
            load_case_lines=self._case_lines,
            load_metrics=metrics,
            load_earlier_runs=self._earlier_runs,
        )

    def _case_lines(self) -> Mapping[str, tuple[str, int]]:
        from carob.api.datasets import case_lines  # late: only some forms need it

        if self.golden is None or isinstance(self.golden, Dataset):
            return {}
        return case_lines(self.golden)

    def _earlier_runs(self) -> Sequence[RunEntry]:
        from carob.api.history import earlier_runs  # late: only some forms need it

        if self.store is None:
            return ()
        try:
            return earlier_runs(self.run, store=self.store)
        except CarobError:  # reported when the run was saved
            return ()


def evaluate(request: RunRequest, listeners: Listeners | None = None) -> Evaluation:
    """Make a run: resolve settings, plan, score, save. The run is saved before this returns, so
    that a reader who stops half way does not lose it."""
    listeners = listeners or Listeners()
    config = _settings(request)
    store = store_url(request.store, config=config) if request.save else None
    labels = git_labels(request.labels) if store or request.labels else {}
    golden = config.golden if request.golden is None else request.golden
    cases = _select_cases(request, golden)
    config, chosen = _choose_metrics(request, config, cases)
    if chosen:
        listeners.metrics(chosen)
    judges = judge_pool(config.judge, store or request.answers)
    from_data = chosen.names if chosen else ()
    plan = plan_run(config, cases.part if cases else None, judges, from_data)
    with ExitStack() as stack:
        spool = _spool(stack) if store and request.keep_traces else None
        result, traces = _score(request, config, plan, cases, spool, listeners, stack)
        run = _finish(plan, cases, result, judges, request.by)
        if store:
            _save(run, store, labels, traces() if traces else (), listeners.problem)
    return Evaluation(run=run, golden=golden, store=store)


def run(
    traces: PathName | Iterable[PathName] = (),
    *,
    golden: PathName | Dataset | None = None,
    metrics: str | Sequence[str | MetricChoice] = (),
    thresholds: Mapping[str, float] | None = None,
    params: Mapping[str, Json] | None = None,
    profile: str | None = None,
    profiles: Sequence[str] = (),
    tags: str | Iterable[str] = (),
    where: str | None = None,
    cases: str | Iterable[str] = (),
    limit: int | None = None,
    by: str | Sequence[str] = (),
    cross: bool = False,
    jobs: int | None = None,
    resume: bool = False,
    judge: str | JudgeSettings | None = None,
    answers: str | None = None,
    progress: ProgressListener = ignore,
    reading: ProgressListener = ignore,
    report: ProblemListener = ignore,
) -> Run:
    """Score traces against golden data; without traces, the traces that the golden data carries.

    Without `metrics`, those that the golden data asks for are used. `tags`, `where`, `cases` and
    `limit` select cases, `by` breaks the summary down, all as the options of `carob run`.
    No config is read and nothing is saved. Judges ask the model `judge`; their answers are cached
    in the store `answers`. `reading` receives the bytes of traces read, `progress` how much is
    scored, `report` each problem with the traces.
    """
    request = RunRequest(
        traces=as_list(traces),
        golden=golden,
        metrics=as_list(metrics),
        thresholds=as_texts(thresholds),
        params=as_texts(params),
        profile=profile,
        tags=as_list(tags),
        where=where,
        cases=as_list(cases),
        limit=limit,
        by=as_list(by),
        config=msgspec.structs.replace(NO_CONFIG, profiles=tuple(profiles)),
        cross=cross,
        jobs=jobs,
        resume=resume,
        judge=judge,
        save=False,
        answers=answers,
    )
    return evaluate(request, Listeners(reading=reading, scoring=progress, problem=report)).run


def estimate(request: RunRequest, listeners: Listeners | None = None) -> CostEstimate:
    """Estimate the judge usage of a run without asking a judge."""
    listeners = listeners or Listeners()
    config = _settings(request)
    store = store_url(request.store, config=config) if request.save else request.answers
    cases = _select_cases(request, config.golden if request.golden is None else request.golden)
    config, chosen = _choose_metrics(request, config, cases)
    if chosen:
        listeners.metrics(chosen)
    judges = judge_pool(config.judge, store, dry=True)
    part = cases.part if cases else None
    from_data = chosen.names if chosen else ()
    plan = make_plan(config.metrics, part, Profiles(), judges, from_data)
    job = _scoring_job(request, plan, cases)
    with trace_batches(_paths(request, config), part, 1, listeners.problem) as batches:
        return CostEstimate(estimate_usage(job, batches).usage)


def passed(run: Run, *, allow_unscored: bool = False) -> bool:
    """Return whether a run has no verdict against it: it passed, or no metric was asked to decide.
    A run that scored nothing never does."""
    counts = run.summary.cases
    if run.verdict in ("passed", "informational"):
        return True
    return (
        allow_unscored
        and not run.stopped
        and counts.passed > 0
        and not counts.failed
        and not counts.errors
    )


def _settings(request: RunRequest) -> Config:
    golden = request.golden
    return settings(
        request.config,
        metrics=request.metrics,
        thresholds=request.thresholds,
        params=request.params,
        golden=None if golden is None or isinstance(golden, Dataset) else Path(golden),
        profile=request.profile,
        contracts=request.contracts,
        judge=request.judge,
    )


def _select_cases(request: RunRequest, golden: PathName | Dataset | None) -> SelectedCases | None:
    selection = make_selection(request.tags, request.where, request.cases, request.limit)
    if golden is not None:
        return load_selected(golden, selection, request.by)
    if selection or request.by:
        message = "cannot select or break down cases without golden data"
        raise UsageError(message, hint="pass --golden")
    return None


def _choose_metrics(
    request: RunRequest, config: Config, cases: SelectedCases | None
) -> tuple[Config, ChosenMetrics | None]:
    return add_default_metrics(
        config,
        cases.part.cases if cases else None,
        thresholds=request.thresholds,
        params=request.params,
        contracts=request.contracts,
    )


def _scoring_job(request: RunRequest, plan: Plan, cases: SelectedCases | None) -> ScoringJob:
    # Traces are paired with all cases: the trace of a case that is not selected is skipped, and not
    # reported as a trace without a case.
    return ScoringJob(
        plan=plan,
        cases=cases.whole.cases if cases else None,
        selected=cases.part.cases if cases and cases.selection else None,
        crossed=request.cross,
    )


def _paths(request: RunRequest, config: Config) -> list[Path]:
    return [Path(path) for path in request.traces or config.traces]


def _spool(stack: ExitStack) -> Path:
    folder = make_scratch_folder()
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _score(
    request: RunRequest,
    config: Config,
    plan: Plan,
    cases: SelectedCases | None,
    spool: Path | None,
    listeners: Listeners,
    stack: ExitStack,
) -> tuple[BatchResult, Callable[[], Iterable[Trace]] | None]:
    """Score all traces. With a spool folder, also return a function that yields the traces, until
    the stack is closed."""
    paths = _paths(request, config)
    job = _scoring_job(request, plan, cases)
    jobs = request.jobs or worker_count(paths)
    journal = Journal(_journal_path(paths, cases, job), resume=request.resume)
    try:
        part = cases.part if cases else None
        opened = trace_batches(paths, part, jobs, listeners.problem, listeners.reading)
        batches: Sequence[Batch] = stack.enter_context(opened)
        spooled = TraceSpool(spool, batches) if spool else None
        result = execute(
            job,
            spooled.batches if spooled else batches,
            jobs=jobs,
            journal=journal,
            progress=listeners.scoring,
            patience=0.0 if request.jobs else _PATIENCE,
            report=listeners.problem,
        )
    except KeyboardInterrupt as error:
        journal.flush()
        raise _stopped(journal) from error
    journal.close()
    return result, spooled.traces if spooled else None


def _stopped(journal: Journal) -> StoppedError:
    if not journal.batches:
        return StoppedError("stopped before anything was scored")
    return StoppedError("stopped; finished results are saved", hint="continue with --resume")


def _journal_path(paths: Sequence[Path], cases: SelectedCases | None, job: ScoringJob) -> Path:
    """Return a file name that only a run with the same inputs gets."""
    inputs = {
        "files": [FileState.of(path) for path in paths],
        "dataset": dataset_digest(cases.whole) if cases else None,
        "selection": cases.selection if cases else None,
        "metrics": job.plan.specs,
        "profiles": [job.plan.profile, job.plan.profiles],
        "crossed": job.crossed,
    }
    data = msgspec.json.encode(inputs, order="deterministic")
    return Path(".carob") / "journal" / f"{blake2b(data, digest_size=8).hexdigest()}.jsonl"


def _finish(
    plan: Plan,
    cases: SelectedCases | None,
    result: BatchResult,
    judges: JudgePool,
    by: Sequence[str],
) -> Run:
    by_id = {case.id: case for case in cases.part.cases} if cases else {}
    run = assemble_run(
        dataset_info(cases.whole) if cases else None,
        plan.specs,
        add_digests(result.results, by_id),
        by_id,
        unmatched=result.unmatched,
        selection=cases.selection if cases else None,
        by=by,
    )
    if not plan.judged:
        return run
    run = msgspec.structs.replace(run, spending=result.usage)
    if judges.stopped is None:
        return run
    return msgspec.structs.replace(run, verdict="inconclusive", stopped=judges.stopped)


def _save(
    run: Run,
    store: str,
    labels: Mapping[str, str],
    traces: Iterable[Trace],
    report: ProblemListener,
) -> None:
    """Save a run. A failure is a warning: the verdict stands without a saved run."""
    try:
        save_run(run, store=store, labels=labels, traces=traces)
    except CarobError as error:
        message = f"the run was not saved: {error.message}"
        where = error.where or "the store"
        report(Problem(where=where, message=message, hint=error.hint, severity="warning"))
