"""The use-case of calibration: a judge is compared with people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from carob.analysis import calibrated
from carob.analysis.calibrated import MIN_KAPPA
from carob.analysis.calibration import calibrate as _calibrate
from carob.api.history import find_run
from carob.api.judging import Panel, made_metric
from carob.api.labelled import Recorded, labelled_run
from carob.api.loading import PathName, several
from carob.api.registry import moment
from carob.config import MetricChoice
from carob.datasets.labels import of_metric, read_labels
from carob.errors import UsageError
from carob.schema import Calibration, JudgeChoice, Label, MetricUse, Run
from carob.schema.listeners import Progress, Report, nobody
from carob.schema.scale import check_threshold
from carob.store.calibrations import sealed
from carob.text.spelling import meant


def calibrate(
    labels: PathName,
    *,
    run: Run | PathName | None = None,
    traces: PathName | Iterable[PathName] = (),
    golden: PathName | None = None,
    metrics: str | Sequence[str | MetricChoice] = (),
    threshold: float | None = None,
    judge: str | JudgeChoice | None = None,
    answers: str | None = None,
    progress: Progress = nobody,
    report: Report = nobody,
) -> Calibration:
    """How well does a judge agree with people? Either it has scored their cases in a run that is
    given, and nobody is asked; or it is asked now, about the answers that people labelled.

    One metric is calibrated: the only judge among `metrics` or in the run, or the metric that the
    labels name.
    """
    told = read_labels(Path(labels))
    choices = [MetricChoice(name=one) if isinstance(one, str) else one for one in several(metrics)]
    if run is not None:
        made = run if isinstance(run, Run) else find_run(str(run))
        name = _chosen(_used(made, choices), told)
    else:
        choices = choices or [MetricChoice(name=name) for name in _named(told)]
        known = {made_metric(one).name: one for one in choices}
        name = _chosen({name: made_metric(one).judged for name, one in known.items()}, told)
        recorded = Recorded(golden, [Path(path) for path in several(traces)], report)
        panel = Panel(judge, answers)
        made = labelled_run(of_metric(told, name), known[name], recorded, panel, progress)
    use = _use(made, name, threshold)
    return sealed(_calibrate(made, use, of_metric(told, name), moment(None)))


def agrees(made: Calibration, min_kappa: float = MIN_KAPPA) -> bool:
    """Is the judge calibrated? The lower end of kappa must reach so much."""
    return calibrated.reached(made, min_kappa)


def _used(run: Run, choices: Sequence[MetricChoice]) -> dict[str, bool]:
    """The metrics of a run that come into question, and whether they are judges."""
    known = {use.name: bool(use.judge) for use in run.metrics}
    for one in choices:
        if one.name not in known:
            raise _unknown(f"{run.id} has no metric {one.name!r}", one.name, known)
    return {one.name: known[one.name] for one in choices} or known


def _named(labels: Iterable[Label]) -> dict[str, Label]:
    """The metrics that labels name, each with the first label that does."""
    made: dict[str, Label] = {}
    for one in labels:
        if one.metric is not None:
            made.setdefault(one.metric, one)
    return made


def _chosen(known: Mapping[str, bool], labels: Sequence[Label]) -> str:
    """The metric that labels name, or else the only judge."""
    named = _named(labels)
    found = [name for name in named if name in known]
    if named and not found:
        name, first = next(iter(named.items()))
        raise _unknown(f"metric is {name!r}", name, known, first.where)
    found = found or [name for name in known if known[name]] or [*known]
    if len(found) == 1:
        return found[0]
    message = "nothing says which metric is to be calibrated"
    hint = f"choose one with -m: {', '.join(found)}" if found else "choose one with -m"
    raise UsageError(message, hint=hint)


def _unknown(message: str, name: str, known: Iterable[str], where: str | None = None) -> UsageError:
    hint = meant(name, known) or f"expected one of {', '.join(known)}"
    return UsageError(message, where=where, hint=hint)


def _use(run: Run, name: str, threshold: float | None) -> MetricUse:
    uses = [use for use in run.metrics if use.name == name]
    if len(uses) > 1:
        message = f"{run.id} has {name!r} {len(uses)} times, and scores do not say by which"
        raise UsageError(message, hint="make a run in which it is there once")
    if threshold is None:
        return uses[0]
    check_threshold(name, threshold, uses[0].scale)
    return msgspec.structs.replace(uses[0], threshold=threshold)
