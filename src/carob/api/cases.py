"""Use-cases of single cases: golden data as tests, and plain asserts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from carob.api.answers import Answer, as_trace
from carob.api.configuration import under_flags
from carob.api.desk import wait
from carob.api.judging import Panel
from carob.api.loading import PathName, golden_data, several
from carob.api.rows import rows
from carob.api.runs import DEFAULT_METRICS, Profiles, about, make_plan
from carob.config import Config, load_config
from carob.datasets.where import where as compile_where
from carob.errors import CarobError, InputError, UsageError
from carob.policy.profile import own_profiles
from carob.report.run import trouble
from carob.runner.pairing import Pair, Pairing, pair_rest
from carob.runner.plan import Plan
from carob.schema import (
    Case,
    CaseResult,
    Dataset,
    MetricUse,
    Problem,
    RunDataset,
    Status,
    Trace,
    Unmatched,
)
from carob.schema.digest import expectation_digest
from carob.traces.read import read_traces


@dataclass(frozen=True)
class Scores:
    """What the metrics say of one answer; `scores["latency"]` is a number."""

    result: CaseResult

    def __repr__(self) -> str:
        values = [f"{one.metric}={one.value}" for one in self.result.scores]
        return f"<Scores {' '.join([self.result.status, *values])}>"

    @property
    def passed(self) -> bool:
        """Did the case pass? One of which nothing was scored did not."""
        return self.result.status == "passed"

    @property
    def text(self) -> str:
        """What was expected, what came, and what each metric says of it."""
        return trouble(self.result)

    def __getitem__(self, metric: str) -> float:
        __tracebackhide__ = True
        found = {one.metric: one for one in self.result.scores}
        if metric not in found:
            known = ", ".join(found) or "none, for there was nothing to score"
            raise UsageError(f"metric {metric!r} was not asked for", hint=f"asked for: {known}")
        one = found[metric]
        if one.value is None:  # no number may stand in for it in a comparison
            raise AssertionError(f"{metric} {one.status}: {one.reason}")
        return one.value


@dataclass(frozen=True)
class Paired:
    """The recordings of a dataset, by case."""

    pairs: Mapping[str, Sequence[Pair]]
    unmatched: tuple[Unmatched, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Golden cases, what was recorded for them, and how they are scored."""

    dataset: Dataset
    cases: tuple[Case, ...]
    """The cases that are asked for."""
    plan: Plan
    traces: tuple[Path, ...] = ()

    @cached_property
    def about(self) -> RunDataset:
        """All the golden data, whichever cases are asked for."""
        return about(self.dataset)

    @cached_property
    def metrics(self) -> tuple[MetricUse, ...]:
        return tuple(use.noun() for use in self.plan.uses)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the cases stand in the golden data."""
        return {case.id: place for place, case in enumerate(self.dataset.cases)}

    @property
    def recorded(self) -> Paired:
        """The recordings, read when the first of them is asked for."""
        if isinstance(self._read, CarobError):
            raise self._read.with_traceback(None)
        return self._read

    @cached_property
    def _read(self) -> Paired | CarobError:
        """A file that cannot be read is not read again for every case."""
        if self.traces:
            try:
                return _paired(self.dataset, self.cases, self.traces)
            except CarobError as error:
                return error
        return Paired({pair.case.id: [pair] for pair in rows(self.cases) if pair.case})

    def recordings(self, case: Case) -> tuple[Trace, ...]:
        """What was recorded for a case."""
        return tuple(pair.trace for pair in self.recorded.pairs.get(case.id, ()))

    def score(self, case: Case, answer: Answer, *, id: str, how: str) -> Scores:
        """The outcomes of an answer, which is a trace of that id."""
        return self._scores(Pair(case, as_trace(case, answer, id), how))

    def score_recordings(self, case: Case) -> tuple[Scores, ...]:
        """The outcomes of all recordings of a case; it is unscored if there are none."""
        pairs = self.recorded.pairs.get(case.id, ())
        return tuple(map(self._scores, pairs)) or (Scores(self.nothing(case, "unscored", _ALONE)),)

    def nothing(self, case: Case, status: Status, why: str) -> CaseResult:
        """The result of a case for which no trace could be scored."""
        return CaseResult(
            case=case.id, trace=None, status=status, paired_by=why, digest=expectation_digest(case)
        )

    def close(self) -> None:
        """Nobody is asked any more."""
        if self.plan.judged:
            wait(self.plan.close())

    def _scores(self, pair: Pair) -> Scores:
        judged = self.plan.judged
        made = wait(self.plan.judge(pair)).result if judged else self.plan.score(pair)
        digest = expectation_digest(pair.case) if pair.case else None
        return Scores(msgspec.structs.replace(made, digest=digest))


_ALONE = "no trace belongs to it"


def suite(
    golden: PathName | Dataset,
    *,
    traces: PathName | Iterable[PathName] = (),
    metrics: str | Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    params: Mapping[str, Any] | None = None,
    profile: str | None = None,
    where: str | None = None,
    tags: str | Iterable[str] = (),
    config: Path | None = None,
    judge: str | None = None,
    answers: str | None = None,
) -> Suite:
    """Cases that are ready to be scored one by one; whatever is wrong with names is wrong here.

    Judges ask the model `judge`; their answers are kept in the store `answers`.
    """
    dataset = golden_data(golden)
    found = load_config(config) if config else Config(source="", dialect="carob")
    asked = several(metrics) or [one.name for one in found.metrics or DEFAULT_METRICS]
    setup = under_flags(
        found,
        metrics=asked,
        thresholds={name: str(value) for name, value in (thresholds or {}).items()},
        params={key: msgspec.json.encode(value).decode() for key, value in (params or {}).items()},
        profile=profile,
        judge={"model": judge},
    )
    profiles = Profiles(setup.profile, own_profiles(setup.profiles))
    panel = Panel(setup.judge, answers)
    return Suite(
        dataset=dataset,
        cases=_selected(dataset, where, frozenset(several(tags))),
        plan=make_plan(setup.metrics, dataset, profiles, panel),
        traces=tuple(_existing(Path(path)) for path in several(traces)),
    )


def score(
    case: Case,
    answer: Answer,
    *,
    metrics: str | Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    profile: str | None = None,
    judge: str | None = None,
) -> Scores:
    """What the metrics say of an answer to a golden case."""
    dataset = Dataset(name=case.id, cases=[case])
    made = suite(dataset, metrics=metrics, thresholds=thresholds, profile=profile, judge=judge)
    try:
        return made.score(case, answer, id=case.id, how="given together")
    finally:
        made.close()


def check(
    case: Case,
    answer: Answer,
    *,
    metrics: str | Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    profile: str | None = None,
    judge: str | None = None,
) -> Scores:
    """As `score`, but an answer that does not pass is an `AssertionError` that says why."""
    __tracebackhide__ = True
    scores = score(
        case, answer, metrics=metrics, thresholds=thresholds, profile=profile, judge=judge
    )
    if not scores.passed:
        raise AssertionError(scores.text)
    return scores


def _selected(dataset: Dataset, where: str | None, tags: frozenset[str]) -> tuple[Case, ...]:
    holds = compile_where(where) if where else None
    found = [case for case in dataset.cases if tags <= {*case.tags} and (not holds or holds(case))]
    if not found:  # no case is no test, and no test is no failure
        known = ", ".join(dataset.summary().tags) or "none"
        message = f"none of the {len(dataset.cases)} cases is asked for"
        raise UsageError(message, where=dataset.name, hint=f"the tags are {known}")
    return tuple(found)


def _existing(path: Path) -> Path:
    if not path.exists():
        raise InputError("no such file", where=str(path))
    return path


def _paired(dataset: Dataset, cases: Sequence[Case], paths: Sequence[Path]) -> Paired:
    """The recordings of the cases that are asked for; those of other cases are let go at once."""
    pairing, problems = Pairing(dataset.cases), list[Problem]()
    pairs: dict[str, list[Pair]] = {case.id: [] for case in cases}
    matched, unmatched = 0, list[Pair]()
    for trace in read_traces(paths, report=problems.append):
        pair = pairing.pair(trace)
        if pair.case is None:
            unmatched.append(pair)
        else:
            matched += 1
            pairs.get(pair.case.id, []).append(pair)
    rest = pair_rest(dataset.cases, unmatched[0].trace) if len(unmatched) == 1 else None
    if rest and not matched:
        pairs[cases[0].id], unmatched = [rest], []
    for found in pairs.values():
        found.sort(key=lambda pair: pair.trace.id)
    lost = sorted((one.trace.id, one.how) for one in unmatched)
    return Paired(pairs, tuple(Unmatched(*one) for one in lost), tuple(problems))
