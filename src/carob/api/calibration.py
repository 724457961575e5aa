"""The use-case of calibration: a judge is compared with people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.analysis import calibrated
from carob.analysis.calibrated import MIN_KAPPA
from carob.analysis.calibration import calibrate as _calibrate
from carob.api.clock import timestamp
from carob.api.history import find_run, store_place
from carob.api.judging import build_metric, judge_pool
from carob.api.load import PathName, as_list, load
from carob.api.runs import Profiles, about, make_plan, make_run
from carob.api.traces import recorded_pairs
from carob.config import MetricChoice
from carob.datasets.labels import of_metric, read_labels
from carob.errors import EvaluationError, InputError, UsageError
from carob.judges.pool import JudgePool
from carob.runner.done import Done
from carob.runner.judging import Judging
from carob.runner.pairing import Pair, Pairing
from carob.runner.work import Work
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
from carob.store import is_there, open_store
from carob.store.calibrations import find, keep, of_json, sealed
from carob.text.spelling import did_you_mean
from carob.traces.read import read_traces


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
    progress: ProgressListener = ignore,
    report: ProblemListener = ignore,
) -> Calibration:
    """How well does a judge agree with people? Either it has scored their cases in a run that is
    given, and nobody is asked; or it is asked now, about the answers that people labelled.

    One metric is calibrated: the only judge among `metrics` or in the run, or the metric that the
    labels name.
    """
    told = read_labels(Path(labels))
    choices = [MetricChoice(name=one) if isinstance(one, str) else one for one in as_list(metrics)]
    if run is not None:
        made = run if isinstance(run, Run) else find_run(str(run))
        name = _chosen(_used(made, choices), told)
    else:
        choices = choices or [MetricChoice(name=name) for name in _named(told)]
        known = {build_metric(one).name: one for one in choices}
        name = _chosen({name: build_metric(one).judged for name, one in known.items()}, told)
        recorded = Recorded(golden, [Path(path) for path in as_list(traces)], report)
        panel = judge_pool(judge, answers)
        made = labelled_run(of_metric(told, name), known[name], recorded, panel, progress)
    use = _use(made, name, threshold)
    return sealed(_calibrate(made, use, of_metric(told, name), timestamp(None)))


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
    hint = did_you_mean(name, known) or f"expected one of {', '.join(known)}"
    return UsageError(message, where=where, hint=hint)


def _use(run: Run, name: str, threshold: float | None) -> MetricSpec:
    uses = [use for use in run.metrics if use.name == name]
    if len(uses) > 1:
        message = f"{run.id} has {name!r} {len(uses)} times, and scores do not say by which"
        raise UsageError(message, hint="make a run in which it is there once")
    if threshold is None:
        return uses[0]
    check_threshold(name, threshold, uses[0].scale)
    return msgspec.structs.replace(uses[0], threshold=threshold)


_LIMIT = 64 * 2**20


def find_calibrations(uses: Sequence[MetricSpec], rules: GateRules) -> tuple[Calibration, ...]:
    """What is known of the judges of a run: first by the files that the rules name, then by the
    store, each the newest first."""
    files = [_read(Path(path)) for path in rules.calibrations]
    files.sort(key=lambda one: one.created_at, reverse=True)
    place = store_place()
    if not uses or not is_there(place):
        return tuple(files)
    with open_store(place) as database:
        return (*files, *(one for use in uses for one in find(database, use)))


def keep_calibration(made: Calibration, *, store: str | None = None) -> None:
    """Keep a calibration where gates look for it."""
    with open_store(store_place(store), create=True) as database:
        keep(database, made)


def _read(path: Path) -> Calibration:
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if len(data) > _LIMIT:
        raise InputError(f"larger than {_LIMIT >> 20} MB, no calibration", where=str(path))
    return of_json(data, str(path))


class Recorded(NamedTuple):
    """Where the answers are."""

    golden: PathName | None
    traces: Sequence[Path]
    report: ProblemListener


def labelled_run(
    labels: Sequence[Label],
    choice: MetricChoice,
    recorded: Recorded,
    panel: JudgePool,
    progress: ProgressListener,
) -> Run:
    """Score the answers that are labelled. It is not kept: it would look like a bad run."""
    if recorded.golden is None:
        hint = "give golden data with --golden, or a run that has the scores with --run"
        raise UsageError("no golden data that the labels are about", hint=hint)
    dataset = load(recorded.golden)
    # Verdicts of profiles are about whole cases, and here is only one metric.
    cases = [msgspec.structs.replace(case, profile=None) for case in dataset.cases]
    work = Work(plan=make_plan([choice], None, Profiles(None, {}), panel), cases=cases)
    parts: list[Done] = []
    with Judging(work) as judging:
        judging.carry_out(
            [(0, lambda: _labelled(labels, _pairs(cases, recorded)))],
            lambda _number, done: parts.append(done),
            progress,
        )
    if panel.stopped:
        message, where = f"not all were asked: {panel.stopped}", str(recorded.golden)
        recorded.report(Problem(where=where, message=message, severity="warning"))
    results = tuple(one for part in parts for one in part.results)
    if not results:
        raise _nothing(labels, cases, str(recorded.golden))
    uses = tuple(use.to_record() for use in work.plan.uses)
    return make_run(about(dataset), uses, results, {case.id: case for case in cases})


def _pairs(cases: Sequence[Case], recorded: Recorded) -> Iterator[Pair]:
    """All answers; which case they belong to may depend on cases that nobody labelled."""
    if not recorded.traces:
        yield from recorded_pairs(cases)
        return
    pairing = Pairing(cases)
    yield from map(pairing.pair, read_traces(recorded.traces, report=recorded.report))


def _labelled(labels: Iterable[Label], pairs: Iterable[Pair]) -> Iterator[Pair]:
    wanted = {(one.case, one.trace) for one in labels}
    for pair in pairs:
        case = pair.case.id if pair.case else ""
        if (case, pair.trace.id) in wanted or (case, None) in wanted:
            yield pair


def _nothing(labels: Sequence[Label], cases: Sequence[Case], where: str) -> EvaluationError:
    known = [case.id for case in cases]
    strange = next((one for one in labels if one.case not in known), None)
    if strange is None:
        hint = "`carob run` says which case each trace belongs to, and why"
        return EvaluationError("no recording belongs to a labelled case", where=where, hint=hint)
    message = f"no recording belongs to a labelled case, and there is no case {strange.case!r}"
    return EvaluationError(message, where=where, hint=f"its cases are {', '.join(known[:3])}, …")
