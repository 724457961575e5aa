"""Golden cases as tests: suites for the pytest plugin, `score` and `check` for plain asserts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from carob.api.load import PathName, as_list
from carob.api.running.assemble import dataset_info
from carob.api.running.default_metrics import ChosenMetrics, add_default_metrics
from carob.api.running.idle_rules import find_idle_rules
from carob.api.running.judges import judge_pool
from carob.api.running.plan import plan_run
from carob.api.running.selection import load_selected, make_selection
from carob.api.running.sources import recorded_pairs
from carob.api.settings import NO_CONFIG, as_texts, load_trusted, settings
from carob.errors import CarobError, InputError, UsageError
from carob.judges.sync import run_sync
from carob.report.run import explain_result
from carob.runner.merge import NO_TRACE
from carob.runner.pairing import Pair, pair_traces
from carob.runner.plan import Plan
from carob.schema import (
    Case,
    CaseResult,
    CaseSelection,
    Dataset,
    MetricSpec,
    Problem,
    RunDataset,
    Status,
    Trace,
    UnmatchedTrace,
)
from carob.schema.digest import expectation_digest
from carob.targets.replies import Answer, as_trace
from carob.traces.read import read_traces


@dataclass(frozen=True)
class Scores:
    """The scores of one answer. `scores["latency"]` is a number."""

    result: CaseResult

    def __repr__(self) -> str:
        values = [f"{score.metric}={score.value}" for score in self.result.scores]
        return f"<Scores {' '.join([self.result.status, *values])}>"

    @property
    def passed(self) -> bool:
        """Whether a metric decided that the case passed."""
        return self.result.status == "passed"

    @property
    def text(self) -> str:
        """The expected and the actual answer, and the reason of each metric."""
        return explain_result(self.result)

    def __getitem__(self, metric: str) -> float:
        __tracebackhide__ = True
        scores = {score.metric: score for score in self.result.scores}
        if metric not in scores:
            known = ", ".join(scores) or "none, because nothing was scored"
            raise UsageError(f"metric {metric!r} was not computed", hint=f"computed: {known}")
        score = scores[metric]
        if score.value is None:  # any number in its place could satisfy a comparison
            raise AssertionError(f"{metric} {score.status}: {score.reason}")
        return score.value


@dataclass(frozen=True)
class SuiteTraces:
    """The traces of a suite, by case."""

    pairs: Mapping[str, Sequence[Pair]]
    unmatched: tuple[UnmatchedTrace, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Suite:
    """Golden cases with their traces and the plan to score them."""

    dataset: Dataset
    cases: tuple[Case, ...]
    """The selected cases."""
    plan: Plan
    selection: CaseSelection
    traces: tuple[Path, ...] = ()
    chosen: ChosenMetrics | None = None
    """The metrics that were chosen from the data, unless the caller named metrics."""

    @cached_property
    def dataset_info(self) -> RunDataset:
        """The whole dataset, whichever cases are selected."""
        return dataset_info(self.dataset)

    @cached_property
    def metrics(self) -> tuple[MetricSpec, ...]:
        return self.plan.specs

    @property
    def idle_rules(self) -> tuple[Problem, ...]:
        """A warning for each threshold or profile that decides nothing."""
        return tuple(find_idle_rules(self.plan))

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each case in the dataset."""
        return {case.id: position for position, case in enumerate(self.dataset.cases)}

    @property
    def paired(self) -> SuiteTraces:
        """The traces, read on first use."""
        if isinstance(self._read, CarobError):
            raise self._read.with_traceback(None)
        return self._read

    @cached_property
    def _read(self) -> SuiteTraces | CarobError:
        """Read the traces. An error is cached too: otherwise every case would read a broken file
        again."""
        if self.traces:
            try:
                return _pair(self.dataset, self.cases, self.traces)
            except CarobError as error:
                return error
        return SuiteTraces(
            {pair.case.id: [pair] for pair in recorded_pairs(self.cases) if pair.case}
        )

    def traces_of(self, case: Case) -> tuple[Trace, ...]:
        """Return the traces of a case."""
        return tuple(pair.trace for pair in self.paired.pairs.get(case.id, ()))

    def score(self, case: Case, answer: Answer, *, id: str, reason: str) -> Scores:
        """Score an answer. It becomes a trace with the given id."""
        return self._score(Pair(case, as_trace(case, answer, id), reason))

    def score_traces(self, case: Case) -> tuple[Scores, ...]:
        """Score all traces of a case. A case without traces is unscored."""
        pairs = self.paired.pairs.get(case.id, ())
        return tuple(map(self._score, pairs)) or (Scores(self.unscored(case, NO_TRACE)),)

    def unscored(self, case: Case, reason: str) -> CaseResult:
        """Return the result of a case for which there was nothing to score."""
        return self.without_trace(case, self.plan.status_without_scores(case), reason)

    def without_trace(self, case: Case, status: Status, reason: str) -> CaseResult:
        """Return the result of a case for which no trace could be scored."""
        return CaseResult(
            case=case.id,
            trace=None,
            status=status,
            paired_by=reason,
            digest=expectation_digest(case),
        )

    def close(self) -> None:
        """Close the connections of judges, and end the processes of evaluators."""
        if self.plan.waits:
            run_sync(self.plan.close())

    def _score(self, pair: Pair) -> Scores:
        if self.plan.waits:
            result = run_sync(self.plan.score_with_judges(pair)).result
        else:
            result = self.plan.score(pair)
        digest = expectation_digest(pair.case) if pair.case else None
        return Scores(msgspec.structs.replace(result, digest=digest))


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
    cases: str | Iterable[str] = (),
    limit: int | None = None,
    config: Path | None = None,
    trust_config: bool = False,
    judge: str | None = None,
    answers: str | None = None,
) -> Suite:
    """Return cases that can be scored one by one. Raises `UsageError` for unknown names.

    Judges ask the model `judge`; their answers are cached in the store `answers`.
    """
    loaded = load_trusted(config, trust_all=trust_config) if config else NO_CONFIG
    limits, values = as_texts(thresholds), as_texts(params)
    named = settings(
        loaded,
        metrics=as_list(metrics),
        thresholds=limits,
        params=values,
        profile=profile,
        judge=judge,
        allow_code=True,
    )
    selected = load_selected(golden, make_selection(tags, where, cases, limit), config=named.path)
    resolved, chosen = add_default_metrics(
        named, selected.part.cases, thresholds=limits, params=values
    )
    return Suite(
        dataset=selected.whole,
        cases=tuple(selected.part.cases),
        plan=plan_run(
            resolved,
            selected.part,
            judge_pool(resolved.judge, answers),
            chosen.names if chosen else (),
        ),
        traces=tuple(_existing(Path(path)) for path in as_list(traces)),
        selection=selected.selection,
        chosen=chosen,
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
    """Score an answer to a golden case."""
    dataset = Dataset(name=case.id, cases=[case])
    single = suite(dataset, metrics=metrics, thresholds=thresholds, profile=profile, judge=judge)
    try:
        return single.score(case, answer, id=case.id, reason="given together")
    finally:
        single.close()


def check(
    case: Case,
    answer: Answer,
    *,
    metrics: str | Sequence[str] = (),
    thresholds: Mapping[str, float] | None = None,
    profile: str | None = None,
    judge: str | None = None,
) -> Scores:
    """Score an answer to a golden case. Raises `AssertionError` with reasons unless it passes, and
    `UsageError` if no metric can decide: a check that checks nothing must not go unnoticed."""
    __tracebackhide__ = True
    scores = score(
        case, answer, metrics=metrics, thresholds=thresholds, profile=profile, judge=judge
    )
    if scores.result.status == "info":
        hint = "pass thresholds={METRIC: NUMBER} or a profile, or use carob.score"
        raise UsageError("nothing to check: no metric has a threshold", hint=hint)
    if not scores.passed:
        raise AssertionError(scores.text)
    return scores


def _existing(path: Path) -> Path:
    if not path.exists():
        raise InputError("no such file", where=str(path))
    return path


def _pair(dataset: Dataset, cases: Sequence[Case], paths: Sequence[Path]) -> SuiteTraces:
    """Read the traces of the selected cases. Traces of other cases are dropped while reading."""
    problems: list[Problem] = []
    pairs: dict[str, list[Pair]] = {case.id: [] for case in cases}
    unmatched: list[UnmatchedTrace] = []
    for pair in pair_traces(dataset.cases, read_traces(paths, report=problems.append)):
        if pair.case is None:
            unmatched.append(UnmatchedTrace(pair.trace.id, pair.reason))
        elif pair.case.id in pairs:
            pairs[pair.case.id].append(pair)
    for matched in pairs.values():
        matched.sort(key=lambda pair: pair.trace.id)
    unmatched.sort(key=lambda trace: (trace.trace, trace.why))
    return SuiteTraces(pairs, tuple(unmatched), tuple(problems))
