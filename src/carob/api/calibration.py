"""Calibration: how well a judge agrees with people's labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.analysis import calibration_gate
from carob.analysis.calibration import calibrate as compute_calibration
from carob.analysis.calibration_gate import MIN_KAPPA
from carob.analysis.distributions import require_statistics
from carob.api.clock import timestamp
from carob.api.history import find_run
from carob.api.load import PathName, as_list, load
from carob.api.metrics import build_metric
from carob.api.running.assemble import assemble_run, dataset_info
from carob.api.running.judges import judge_pool
from carob.api.running.plan import Profiles, make_plan
from carob.api.running.sources import recorded_pairs, trace_files
from carob.api.store import store_url
from carob.config import MetricChoice
from carob.datasets.labels import labels_for_metric, read_labels
from carob.errors import EvaluationError, InputError, UsageError
from carob.judges.pool import JudgePool
from carob.runner.job import ScoringJob
from carob.runner.judging import JudgeScorer
from carob.runner.pairing import Pair, pair_traces
from carob.schema import (
    Calibration,
    Case,
    GateRules,
    JudgeSettings,
    Label,
    MetricSpec,
    Problem,
    Run,
)
from carob.schema.outcome import check_threshold
from carob.schema.problem import ProblemListener, ProgressListener, ignore
from carob.store import calibrations as stored
from carob.store import exists, open_store
from carob.text.spelling import did_you_mean
from carob.traces.read import read_traces

_MAX_BYTES = 64 * 2**20


def calibrate(
    labels: PathName,
    *,
    run: Run | PathName | None = None,
    traces: PathName | Iterable[PathName] = (),
    golden: PathName | None = None,
    metrics: str | Sequence[str | MetricChoice] = (),
    threshold: float | None = None,
    judge: str | JudgeSettings | None = None,
    answers: str | None = None,
    store: str | None = None,
    progress: ProgressListener = ignore,
    report: ProblemListener = ignore,
) -> Calibration:
    """Compare a judge with labels. With a run, its scores are used and no model is asked; else the
    judge is asked now, about the labeled answers only.

    One metric is calibrated: the metric that the labels name, or the only judge among `metrics` or
    in the run.
    """
    require_statistics("a calibration")
    rows = read_labels(Path(labels))
    choices = [
        MetricChoice(name=metric) if isinstance(metric, str) else metric
        for metric in as_list(metrics)
    ]
    if run is not None:
        scored = run if isinstance(run, Run) else find_run(str(run), store=store)
        name = _choose_metric(_metrics_of(scored, choices), rows)
    else:
        choices = choices or [MetricChoice(name=name) for name in _metrics_named(rows)]
        by_name = {build_metric(choice).name: choice for choice in choices}
        judged = {name: build_metric(choice).judged for name, choice in by_name.items()}
        name = _choose_metric(judged, rows)
        source = AnswerSource(golden, trace_files(as_list(traces)), report)
        judges = judge_pool(judge, answers)
        scored = _score_labeled(
            labels_for_metric(rows, name), by_name[name], source, judges, progress
        )
    spec = _spec(scored, name, threshold)
    return stored.with_digest(
        compute_calibration(scored, spec, labels_for_metric(rows, name), timestamp())
    )


def agrees(calibration: Calibration, min_kappa: float = MIN_KAPPA) -> bool:
    """Return whether the lower end of kappa's confidence interval reaches the minimum."""
    return calibration_gate.meets_kappa(calibration, min_kappa)


def save_calibration(calibration: Calibration, *, store: str | None = None) -> None:
    """Save a calibration where `carob gate` looks for it."""
    with open_store(store_url(store), create=True) as database:
        stored.save_calibration(database, calibration)


def find_calibrations(
    metrics: Sequence[MetricSpec], rules: GateRules, *, store: str | None = None
) -> tuple[Calibration, ...]:
    """Find the calibrations of judges: first in the files that the rules name, then in the store,
    each newest first."""
    files = [_read(Path(path)) for path in rules.calibrations]
    files.sort(key=lambda calibration: calibration.created_at, reverse=True)
    url = store_url(store)
    if not metrics or not exists(url):
        return tuple(files)
    with open_store(url) as database:
        found = [
            calibration
            for metric in metrics
            for calibration in stored.find_calibrations(database, metric)
        ]
    return (*files, *found)


def _read(path: Path) -> Calibration:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if len(data) > _MAX_BYTES:
        message = f"larger than {_MAX_BYTES >> 20} MB, too large for a calibration"
        raise InputError(message, where=str(path))
    return stored.parse_calibration(data, str(path))


def _metrics_of(run: Run, choices: Sequence[MetricChoice]) -> dict[str, bool]:
    """Return the candidate metrics of a run, and whether each is a judge."""
    judged = {metric.name: bool(metric.judge) for metric in run.metrics}
    for choice in choices:
        if choice.name not in judged:
            raise _unknown_metric(f"{run.id} has no metric {choice.name!r}", choice.name, judged)
    return {choice.name: judged[choice.name] for choice in choices} or judged


def _metrics_named(labels: Iterable[Label]) -> dict[str, Label]:
    """Return the metrics that labels name, each with the first label that does."""
    first: dict[str, Label] = {}
    for label in labels:
        if label.metric is not None:
            first.setdefault(label.metric, label)
    return first


def _choose_metric(judged: Mapping[str, bool], labels: Sequence[Label]) -> str:
    """Return the metric that labels name, or else the only judge."""
    named = _metrics_named(labels)
    candidates = [name for name in named if name in judged]
    if named and not candidates:
        name, label = next(iter(named.items()))
        raise _unknown_metric(f"metric is {name!r}", name, judged, label.where)
    candidates = candidates or [name for name in judged if judged[name]] or [*judged]
    if len(candidates) == 1:
        return candidates[0]
    hint = f"select one with -m: {', '.join(candidates)}" if candidates else "select one with -m"
    raise UsageError("no single metric to calibrate", hint=hint)


def _unknown_metric(
    message: str, name: str, known: Iterable[str], where: str | None = None
) -> UsageError:
    hint = did_you_mean(name, known) or f"expected one of: {', '.join(known)}"
    return UsageError(message, where=where, hint=hint)


def _spec(run: Run, name: str, threshold: float | None) -> MetricSpec:
    specs = [metric for metric in run.metrics if metric.name == name]
    if len(specs) > 1:
        message = (
            f"{run.id} has {len(specs)} metrics named {name!r}, which its scores do not tell apart"
        )
        raise UsageError(message, hint="make a run that uses it once")
    if threshold is None:
        return specs[0]
    check_threshold(name, threshold, specs[0].scale)
    return msgspec.structs.replace(specs[0], threshold=threshold)


class AnswerSource(NamedTuple):
    """Where the labeled answers are."""

    golden: PathName | None
    traces: Sequence[Path]
    report: ProblemListener


def _score_labeled(
    labels: Sequence[Label],
    choice: MetricChoice,
    source: AnswerSource,
    judges: JudgePool,
    progress: ProgressListener,
) -> Run:
    """Score the labeled answers only, because judges cost money. The run is not saved: most cases
    are missing from it, so in the history it would look like a bad run."""
    if source.golden is None:
        hint = "pass golden data with --golden, or a run that has the scores with --run"
        raise UsageError("no golden data for the labels", hint=hint)
    dataset = load(source.golden)
    # A profile decides about a case with several metrics, and here is only one.
    cases = [msgspec.structs.replace(case, profile=None) for case in dataset.cases]
    job = ScoringJob(plan=make_plan([choice], None, Profiles(), judges), cases=cases)
    with JudgeScorer(job) as scorer:
        result = scorer.score(lambda: _select_labelled(labels, _pairs(cases, source)), progress)
    if judges.stopped:
        message = f"stopped before all answers were judged: {judges.stopped}"
        source.report(Problem(where=str(source.golden), message=message, severity="warning"))
    if not result.results:
        raise _no_labeled_trace(labels, cases, str(source.golden))
    by_id = {case.id: case for case in cases}
    return assemble_run(dataset_info(dataset), job.plan.specs, result.results, by_id)


def _pairs(cases: Sequence[Case], source: AnswerSource) -> Iterator[Pair]:
    """Pair all traces: which case a trace belongs to may depend on cases without a label."""
    if not source.traces:
        return recorded_pairs(cases)
    return pair_traces(cases, read_traces(source.traces, report=source.report))


def _select_labelled(labels: Iterable[Label], pairs: Iterable[Pair]) -> Iterator[Pair]:
    labeled = {(label.case, label.trace) for label in labels}
    for pair in pairs:
        case = pair.case.id if pair.case else ""
        if (case, pair.trace.id) in labeled or (case, None) in labeled:
            yield pair


def _no_labeled_trace(
    labels: Sequence[Label], cases: Sequence[Case], where: str
) -> EvaluationError:
    known = [case.id for case in cases]
    unknown = next((label.case for label in labels if label.case not in known), None)
    if unknown is None:
        hint = "`carob run` shows which case each trace belongs to, and why"
        return EvaluationError("no trace belongs to a labeled case", where=where, hint=hint)
    message = f"no trace belongs to a labeled case; unknown case {unknown!r} in the labels"
    return EvaluationError(message, where=where, hint=f"the cases are {', '.join(known[:3])}, …")
