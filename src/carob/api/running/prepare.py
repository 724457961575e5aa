"""Everything that a run needs before it reads traces: settings, cases, metrics, judges, plan."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from carob.api.load import PathName, golden_path
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.default_metrics import ChosenMetrics, add_default_metrics
from carob.api.running.idle_rules import find_idle_rules
from carob.api.running.judges import judge_pool
from carob.api.running.plan import plan_run
from carob.api.running.selection import SelectedCases, load_selected, make_selection
from carob.api.running.sources import shard_sources, trace_files
from carob.api.settings import settings
from carob.api.store import store_url
from carob.config import Config
from carob.config.trust import untrusted_error
from carob.errors import UsageError
from carob.judges.pool import JudgePool
from carob.runner.job import ScoringJob
from carob.runner.plan import Plan
from carob.schema import Dataset
from carob.schema.problem import ProgressListener, ignore


class PreparedRun(NamedTuple):
    """A run that is ready to score traces."""

    config: Config
    golden: PathName | Dataset | None
    cases: SelectedCases | None
    judges: JudgePool
    plan: Plan
    store: str | None
    """Where the run is saved, if it is."""


def prepare_run(request: RunRequest, listeners: Listeners) -> PreparedRun:
    """Resolve everything that a request names. Whatever is wrong with it is an error here, before
    a trace is read or a judge is asked."""
    config = run_settings(request)
    _check_inputs(request, config)
    store = store_url(request.store, config=config) if request.save else None
    golden = _golden(request, config, listeners.reading)
    cases = select_run_cases(request, config, golden)
    config, chosen = choose_run_metrics(request, config, cases)
    if chosen:
        listeners.metrics(chosen)
    judges = judge_pool(config.judge, store or request.answers)
    from_data = chosen.names if chosen else ()
    plan = plan_run(config, cases.part if cases else None, judges, from_data)
    for problem in find_idle_rules(plan):
        listeners.problem(problem)
    return PreparedRun(config, golden, cases, judges, plan, store)


def _check_inputs(request: RunRequest, config: Config) -> None:
    """Refuse to use some of the inputs of a config, without those that need trust."""
    needed = {
        "run.golden": request.golden is None,
        "run.traces": not (request.traces or request.recorded or request.live),
    }
    if any(needed.get(setting.name) for setting in config.withheld):
        raise untrusted_error(config.source, config.withheld)


def run_settings(request: RunRequest) -> Config:
    """Combine the options of a request with its config."""
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
        trust_config=request.trust_config,
        allow_code=request.allow_code,
    )


def _golden(
    request: RunRequest, config: Config, progress: ProgressListener = ignore
) -> PathName | Dataset | None:
    golden = config.golden if request.golden is None else request.golden
    if golden is None or isinstance(golden, Dataset):
        return golden
    return golden_path(golden, progress)


def select_run_cases(
    request: RunRequest, config: Config, golden: PathName | Dataset | None = None
) -> SelectedCases | None:
    """Load the golden data, by default that of the request or the config, and select cases. Raises
    `UsageError` for a selection without data."""
    selection = make_selection(
        request.tags,
        request.where,
        request.cases,
        request.limit,
        filters=request.filters,
        sample=request.sample,
        stratify=request.stratify,
        seed=request.sample_seed,
    )
    golden = _golden(request, config) if golden is None else golden
    if golden is not None:
        return load_selected(
            golden, selection, request.by, config=config.path, mapping=request.mapping
        )
    if selection or request.by:
        message = "cannot select or break down cases without golden data"
        raise UsageError(message, hint="pass --golden")
    return None


def choose_run_metrics(
    request: RunRequest, config: Config, cases: SelectedCases | None
) -> tuple[Config, ChosenMetrics | None]:
    """Add the metrics that the data asks for, if the request names none."""
    return add_default_metrics(
        config,
        cases.part.cases if cases else None,
        thresholds=request.thresholds,
        params=request.params,
        contracts=request.contracts,
    )


def scoring_job(request: RunRequest, plan: Plan, cases: SelectedCases | None) -> ScoringJob:
    """Return what a process needs to score traces."""
    # Traces are paired with all cases: the trace of a case that is not selected is skipped, and not
    # reported as a trace without a case.
    return ScoringJob(
        plan=plan,
        cases=cases.whole.cases if cases else None,
        selected=cases.part.cases if cases and cases.selection else None,
        crossed=request.cross,
    )


def shard_paths(request: RunRequest, config: Config) -> list[Path | str]:
    """Return the trace files of a run in shards, and the addresses of those in object storage."""
    if request.recorded or request.live or request.rescore:
        return []
    return shard_sources(request.traces or config.traces)


def trace_paths(
    request: RunRequest, config: Config, progress: ProgressListener = ignore
) -> list[Path]:
    """Return the trace files of a run; none if its traces come from elsewhere."""
    if request.recorded or request.live:
        return []
    return trace_files(request.traces or config.traces, progress=progress)
