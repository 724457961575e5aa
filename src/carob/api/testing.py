"""Use-cases of single cases: golden data as tests, and plain asserts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from carob.api.judging import judge_pool
from carob.api.load import PathName, as_list, load_golden
from carob.api.runs import DEFAULT_METRICS, Profiles, about, make_plan
from carob.api.settings import under_flags
from carob.api.traces import recorded_pairs
from carob.config import Config, load_config
from carob.datasets.where import where as compile_where
from carob.errors import CarobError, InputError, UsageError
from carob.judges.sync import run_sync
from carob.policy.profile import load_profiles
from carob.report.run import trouble
from carob.runner.pairing import Pair, Pairing, pair_rest
from carob.runner.plan import Plan
from carob.schema import (
    Case,
    CaseResult,
    Dataset,
    MetricSpec,
    Problem,
    RunDataset,
    Status,
    Trace,
    Turn,
    UnmatchedTrace,
)
from carob.schema.digest import expectation_digest
from carob.text.spelling import did_you_mean
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
    unmatched: tuple[UnmatchedTrace, ...] = ()
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
    def metrics(self) -> tuple[MetricSpec, ...]:
        return tuple(use.to_record() for use in self.plan.uses)

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
        return Paired({pair.case.id: [pair] for pair in recorded_pairs(self.cases) if pair.case})

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
            run_sync(self.plan.close())

    def _scores(self, pair: Pair) -> Scores:
        judged = self.plan.judged
        made = run_sync(self.plan.judge(pair)).result if judged else self.plan.score(pair)
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
    dataset = load_golden(golden)
    found = load_config(config) if config else Config(source="", dialect="carob")
    asked = as_list(metrics) or [one.name for one in found.metrics or DEFAULT_METRICS]
    setup = under_flags(
        found,
        metrics=asked,
        thresholds={name: str(value) for name, value in (thresholds or {}).items()},
        params={key: msgspec.json.encode(value).decode() for key, value in (params or {}).items()},
        profile=profile,
        judge={"model": judge},
    )
    profiles = Profiles(setup.profile, load_profiles(setup.profiles))
    panel = judge_pool(setup.judge, answers)
    return Suite(
        dataset=dataset,
        cases=_selected(dataset, where, frozenset(as_list(tags))),
        plan=make_plan(setup.metrics, dataset, profiles, panel),
        traces=tuple(_existing(Path(path)) for path in as_list(traces)),
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
    return Paired(pairs, tuple(UnmatchedTrace(*one) for one in lost), tuple(problems))


Reply: TypeAlias = str | Mapping[str, Any]
"""What the agent did in one turn: its response, or a dict with fields of a `Turn`."""
Answer: TypeAlias = Trace | Reply | Sequence[Reply]
"""What the agent did in a case: a trace, or a reply, or a reply for each turn."""

_FIELDS = (*Turn.__struct_fields__, "state")


def as_trace(case: Case, answer: Answer, id: str) -> Trace:
    """The trace of an answer. What the user said is taken from the case if it is not told."""
    if isinstance(answer, Trace):
        return answer
    replies = [_fields(one) for one in _replies(answer)]
    states = [reply.pop("state") for reply in replies if "state" in reply]
    said = [turn.user for turn in case.turns] + [None] * len(replies)
    turns = [{"user": user, **reply} for user, reply in zip(said, replies, strict=False)]
    try:
        made = {"id": id, "case": case.id, "turns": turns, "state": states[-1] if states else None}
        return msgspec.convert(made, Trace)
    except msgspec.ValidationError as error:
        raise UsageError(f"the answer to {case.id!r}: {error}") from error


def _replies(answer: Reply | Sequence[Reply]) -> Sequence[Reply]:
    if isinstance(answer, str | Mapping):
        return [answer]
    if not isinstance(answer, list | tuple) or not answer:
        raise _unexpected(answer)
    return answer


def _fields(reply: Reply) -> dict[str, Any]:
    """A misspelt field would be an answer that nobody scores."""
    if isinstance(reply, str):
        return {"response": reply}
    if not isinstance(reply, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - agents answer anything
        raise _unexpected(reply)
    for name in reply:
        if name not in _FIELDS:
            hint = did_you_mean(str(name), _FIELDS) or f"known: {', '.join(_FIELDS)}"
            raise UsageError(f"an answer has no field {name!r}", hint=hint)
    return dict(reply)


def _unexpected(answer: object) -> UsageError:
    return UsageError(
        f"found {answer!r:.80} as an answer",
        hint="expected a Trace, a text, a dict such as {'response': …, 'tool_calls': […]}, or a "
        "list of them, one for each turn",
    )
