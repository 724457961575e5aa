"""A run of the answers that people labelled, and of no others: judges cost money."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.judging import Panel
from carob.api.loading import PathName, load
from carob.api.rows import rows
from carob.api.runs import Profiles, about, make_plan, make_run
from carob.config import MetricChoice
from carob.errors import RefusedError, UsageError
from carob.runner.done import Done
from carob.runner.judging import Judging
from carob.runner.pairing import Pair, Pairing
from carob.runner.work import Work
from carob.schema import Case, Label, Problem, Run
from carob.schema.listeners import Progress, Report
from carob.traces.read import read_traces


class Recorded(NamedTuple):
    """Where the answers are."""

    golden: PathName | None
    traces: Sequence[Path]
    report: Report


def labelled_run(
    labels: Sequence[Label],
    choice: MetricChoice,
    recorded: Recorded,
    panel: Panel,
    progress: Progress,
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
    uses = tuple(use.noun() for use in work.plan.uses)
    return make_run(about(dataset), uses, results, {case.id: case for case in cases})


def _pairs(cases: Sequence[Case], recorded: Recorded) -> Iterator[Pair]:
    """All answers; which case they belong to may depend on cases that nobody labelled."""
    if not recorded.traces:
        yield from rows(cases)
        return
    pairing = Pairing(cases)
    yield from map(pairing.pair, read_traces(recorded.traces, report=recorded.report))


def _labelled(labels: Iterable[Label], pairs: Iterable[Pair]) -> Iterator[Pair]:
    wanted = {(one.case, one.trace) for one in labels}
    for pair in pairs:
        case = pair.case.id if pair.case else ""
        if (case, pair.trace.id) in wanted or (case, None) in wanted:
            yield pair


def _nothing(labels: Sequence[Label], cases: Sequence[Case], where: str) -> RefusedError:
    known = [case.id for case in cases]
    strange = next((one for one in labels if one.case not in known), None)
    if strange is None:
        hint = "`carob run` says which case each trace belongs to, and why"
        return RefusedError("no recording belongs to a labelled case", where=where, hint=hint)
    message = f"no recording belongs to a labelled case, and there is no case {strange.case!r}"
    return RefusedError(message, where=where, hint=f"its cases are {', '.join(known[:3])}, …")
