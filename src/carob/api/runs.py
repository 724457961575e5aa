"""Runs: score traces against golden data, save the result, and prepare its report.

`evaluate` is the use-case behind `carob run` and `carob.run`; tests of golden cases assemble their
run from the same parts (`plan_run`, `assemble_run`, `save_run`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from carob.api.live_request import LiveRequest
from carob.api.load import PathName, as_list
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.assemble import assemble_run
from carob.api.running.evaluation import Evaluation
from carob.api.running.judges import judge_pool
from carob.api.running.plan import Profiles, make_plan
from carob.api.running.prepare import (
    choose_run_metrics,
    prepare_run,
    run_settings,
    scoring_job,
    select_run_cases,
    trace_paths,
)
from carob.api.running.selection import SelectedCases
from carob.api.running.sources import log_finders, trace_batches, worker_count
from carob.api.running.unfinished import StoredBatches, run_key
from carob.api.settings import NO_CONFIG, as_texts
from carob.api.store import git_labels, save_run, store_url
from carob.config import Config, MetricChoice
from carob.errors import CarobError, StoppedError, UsageError
from carob.files.scratch import make_scratch_folder, remove_folder
from carob.judges.pool import JudgePool
from carob.runner.checkpoint import Checkpoint
from carob.runner.execute import estimate_usage, execute
from carob.runner.job import Batch, ScoringJob
from carob.runner.merge import MergedResults
from carob.runner.plan import Plan
from carob.runner.spool import TraceSpool
from carob.schema import (
    CostEstimate,
    Dataset,
    Json,
    JudgeSettings,
    LiveEvent,
    MissPolicy,
    Problem,
    Run,
    RunTarget,
    Trace,
)
from carob.schema.field_map import ALL_FIELDS
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.store.unfinished import RunKey

if TYPE_CHECKING:
    from carob.api.live.recording import LiveRecording

_PATIENCE = 1.0
"""Seconds of scoring that are not worth starting worker processes for."""


def evaluate(request: RunRequest, listeners: Listeners | None = None) -> Evaluation:
    """Make a run: resolve settings, plan, score, save. The run is saved before this returns, so
    that a reader who stops half way does not lose it."""
    listeners = listeners or Listeners()
    if request.on:
        from carob.api.running.cluster import evaluate_on_cluster  # late: few runs use a cluster

        return evaluate_on_cluster(request, listeners)
    target: RunTarget | None = None
    if request.rescore:
        from carob.api.running.rescore import load_rescored  # late: few runs score stored traces

        request, target = load_rescored(request, request.rescore)
    prepared = prepare_run(request, listeners)
    config, golden, cases = prepared.config, prepared.golden, prepared.cases
    judges, plan, store = prepared.judges, prepared.plan, prepared.store
    labels = git_labels(request.labels) if store or request.labels else {}
    live = _record_live(request, config, plan, cases, store, listeners)
    with ExitStack() as stack:
        scored = _score(request, config, plan, cases, store, listeners, stack, live)
        run = _finish(scored, cases, judges, request.by, live, target)
        saved = _save(run, scored, store, labels, listeners.problem) if store else True
        scored.unfinished.close()
        if live and saved and not live.stopped:
            live.journal.discard()
    return Evaluation(run=run, golden=golden, store=store, config=config.path)


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
    target: Any = None,
    repeat: int = 1,
    seed: int = 0,
    state: Mapping[str, Json] | None = None,
    concurrency: int | None = None,
    turn_timeout: float | None = None,
    mocks: PathName | None = None,
    on_miss: MissPolicy = "error",
    record: PathName | None = None,
    span_wait: float | None = None,
    simulator: str | None = None,
    max_turns: int | None = None,
    judge: str | JudgeSettings | None = None,
    answers: str | None = None,
    mapping: str | None = None,
    progress: ProgressListener = ignore,
    reading: ProgressListener = ignore,
    attempts: Callable[[LiveEvent], None] = ignore,
    report: ProblemListener = ignore,
) -> Run:
    """Score traces against golden data; without traces, the traces that the golden data carries.

    With a `target`, a live agent is asked: a function such as `def answer(message: str) -> str`, a
    class, or a name such as `adk:http://127.0.0.1:8000/shop`. It is asked `repeat` times for each
    case, and `attempts` receives each finished attempt.

    Without `metrics`, those that the golden data asks for are used. `tags`, `where`, `cases` and
    `limit` select cases, `by` breaks the summary down, all as the options of `carob run`.
    No config is read and nothing is saved. Judges ask the model `judge`; their answers are cached
    in the store `answers`. `mapping` names the fields of plain golden rows and of logs, such as
    `input=frage,expected=antwort,user=query`. `reading` receives the bytes of traces read,
    `progress` how much is scored, `report` each problem with the traces.
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
        mapping=mapping,
        config=msgspec.structs.replace(NO_CONFIG, profiles=tuple(profiles)),
        cross=cross,
        jobs=jobs,
        resume=resume,
        live=None
        if target is None
        else LiveRequest(
            target=target,
            repeat=repeat,
            seed=seed,
            state=state or {},
            concurrency=concurrency,
            turn_timeout=turn_timeout,
            mocks=mocks,
            on_miss=on_miss,
            record=record,
            span_wait=span_wait,
            simulator=simulator,
            max_turns=max_turns,
        ),
        judge=judge,
        allow_code=True,
        save=False,
        answers=answers,
    )
    listeners = Listeners(reading=reading, scoring=progress, live=attempts, problem=report)
    return evaluate(request, listeners).run


def estimate(request: RunRequest, listeners: Listeners | None = None) -> CostEstimate:
    """Estimate the judge usage of a run without asking a judge."""
    if request.live:
        hint = "run it with --max-cost, or estimate with the traces of an earlier run"
        raise UsageError("what judges cost is unknown before the agent has answered", hint=hint)
    listeners = listeners or Listeners()
    config = run_settings(request)
    store = store_url(request.store, config=config) if request.save else request.answers
    cases = select_run_cases(request, config)
    config, chosen = choose_run_metrics(request, config, cases)
    if chosen:
        listeners.metrics(chosen)
    judges = judge_pool(config.judge, store, dry=True)
    part = cases.part if cases else None
    from_data = chosen.names if chosen else ()
    plan = make_plan(config.metrics, part, Profiles(), judges, from_data)
    job = scoring_job(request, plan, cases)
    finders = log_finders(request.mapping, config.path, fields=ALL_FIELDS)
    paths = trace_paths(request, config, listeners.reading)
    with trace_batches(paths, part, 1, listeners.problem, finders=finders) as batches:
        return CostEstimate(estimate_usage(job, batches))


def _record_live(
    request: RunRequest,
    config: Config,
    plan: Plan,
    cases: SelectedCases | None,
    store: str | None,
    listeners: Listeners,
) -> LiveRecording | None:
    if not (request.live or config.target or config.withheld):
        return None
    from carob.api.live.recording import record_live_run  # late: few runs ask a live agent

    return record_live_run(request, config, plan, cases, store, listeners)


class _ScoredRun(NamedTuple):
    """The results of a run, and what is needed to save it."""

    job: ScoringJob
    results: MergedResults
    key: RunKey
    unfinished: StoredBatches
    spool: TraceSpool | None
    """The traces, if they are saved with the run."""

    def traces(self) -> Iterable[Trace]:
        return self.spool.traces() if self.spool else ()


def _score(
    request: RunRequest,
    config: Config,
    plan: Plan,
    cases: SelectedCases | None,
    store: str | None,
    listeners: Listeners,
    stack: ExitStack,
    live: LiveRecording | None,
) -> _ScoredRun:
    """Score all traces. Traces can be read until the stack is closed."""
    paths = trace_paths(request, config, listeners.reading)
    job = scoring_job(request, plan, cases)
    jobs = request.jobs or worker_count(paths)
    part = cases.part if cases else None
    checkpoint = None
    try:
        batches: Sequence[Batch]
        if live:
            batches = live.traces.batches()
        elif request.recorded:
            batches = [partial(tuple, request.recorded)]
        else:
            finders = log_finders(request.mapping, config.path, fields=ALL_FIELDS)
            opened = trace_batches(
                paths,
                part,
                jobs,
                listeners.problem,
                listeners.reading,
                finders,
                spans=bool(store) and request.keep_traces,
            )
            batches = stack.enter_context(opened)
        recorded = live.traces.digest if live else request.recorded
        key = run_key(paths, cases, job, len(batches), recorded, request.mapping)
        unfinished = StoredBatches(key, store)
        checkpoint = Checkpoint(unfinished, resume=request.resume)
        keep = store and (request.keep_traces or live)
        drop = not live and not request.recorded
        spool = TraceSpool(_scratch_folder(stack), batches, drop_spans=drop) if keep else None
        results = execute(
            job,
            spool.batches if spool else batches,
            jobs=jobs,
            checkpoint=checkpoint,
            progress=listeners.scoring,
            counts=listeners.counts,
            patience=0.0 if request.jobs else _PATIENCE,
            report=listeners.problem,
        )
    except KeyboardInterrupt as error:
        raise _stop_error(checkpoint) from error
    return _ScoredRun(job, results, key, unfinished, spool)


def _scratch_folder(stack: ExitStack) -> Path:
    folder = make_scratch_folder()
    stack.callback(remove_folder, folder)
    return folder


def _stop_error(checkpoint: Checkpoint | None) -> StoppedError:
    if checkpoint is None or not checkpoint.batches:
        return StoppedError("stopped before anything was scored")
    if not checkpoint.flush():
        return StoppedError("stopped; finished results could not be saved")
    return StoppedError("stopped; finished results are saved", hint="continue with --resume")


def _finish(
    scored: _ScoredRun,
    cases: SelectedCases | None,
    judges: JudgePool,
    by: Sequence[str],
    live: LiveRecording | None,
    target: RunTarget | None,
) -> Run:
    plan, results = scored.job.plan, scored.results
    run = assemble_run(
        cases.info if cases else None,
        plan.specs,
        results.results,
        scored.job.by_id,
        unmatched=results.unmatched,
        selection=cases.selection if cases else None,
        by=by,
        target=live.target if live else target,
    )
    if plan.judged:
        run = msgspec.structs.replace(run, spending=results.usage)
    stopped = (live.stopped if live else None) or judges.stopped
    if stopped is None:
        return run
    return msgspec.structs.replace(run, verdict="inconclusive", stopped=stopped)


def _save(
    run: Run,
    scored: _ScoredRun,
    store: str,
    labels: Mapping[str, str],
    report: ProblemListener,
) -> bool:
    """Save a run, and return whether it is saved. A failure is a warning: the verdict stands
    without a saved run."""
    try:
        save_run(
            run,
            store=store,
            labels=labels,
            traces=scored.traces(),
            unfinished=scored.key.key,
        )
    except CarobError as error:
        message = f"the run was not saved: {error.message}"
        where = error.where or "the store"
        report(Problem(where=where, message=message, hint=error.hint, severity="warning"))
        return False
    return True
