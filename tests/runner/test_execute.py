from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, TypeVar

import msgspec
import pytest

from carob.metrics import Answer, Ask, Judge, Ledger, LedgerEntry, Metric, Outcome, Question
from carob.runner.checkpoint import Checkpoint
from carob.runner.execute import estimate_usage, execute
from carob.runner.job import Batch, BatchResult, ScoringJob
from carob.runner.judging import JudgeScorer
from carob.runner.merge import MergedResults
from carob.runner.plan import Plan, PlannedMetric
from carob.runner.workers import cpu_count
from carob.schema import (
    Case,
    CaseCounts,
    Failed,
    Json,
    JudgeCost,
    JudgeSpec,
    Score,
    Trace,
    Turn,
    Unscored,
)
from carob.schema.status import case_counts


@dataclass(frozen=True, kw_only=True)
class Length(Metric):
    """How long the response is; it breaks on the word `boom`."""

    name: ClassVar[str] = "length"
    version: ClassVar[int] = 1
    scale: ClassVar[tuple[float, float | None]] = (0.0, None)

    def score(self, case: Case, trace: Trace) -> Outcome:
        response = trace.turns[0].response or ""
        if response == "boom":
            raise ValueError("it broke")
        return Score(value=float(len(response)))


@dataclass(frozen=True, kw_only=True)
class Worker(Length):
    """The process that scores."""

    name: ClassVar[str] = "worker"

    def score(self, case: Case, trace: Trace) -> Outcome:
        return Score(value=float(os.getpid()))


class Verdict(msgspec.Struct, frozen=True):
    score: int


@dataclass(frozen=True, kw_only=True)
class Slow(Judge):
    """A judge that takes a while, and that fails on the word `boom`."""

    name: ClassVar[str] = "slow"
    version: ClassVar[int] = 1

    @property
    def prompt(self) -> str:
        return "sha256:prompt"

    @property
    def rubric(self) -> str:
        return "sha256:rubric"

    @property
    def judge_model(self) -> str | None:
        return None

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        response = trace.turns[0].response or ""
        answer = await ask(Question(instructions="Judge.", prompt=response, answer=Verdict))
        return Score(value=float(answer.value.score)) if isinstance(answer, Answer) else answer


@dataclass(frozen=True, kw_only=True)
class Echo(Slow):
    """A judge that asks about the case as well."""

    name: ClassVar[str] = "echo"

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        await ask(Question(instructions="Judge.", prompt=f"{case.id} {trace.id}", answer=Verdict))
        return Score(value=1.0)


@dataclass(frozen=True, kw_only=True)
class Process(Metric):
    """A metric that waits for another process."""

    name: ClassVar[str] = "process"
    version: ClassVar[int] = 1
    waits: ClassVar[bool] = True

    def score(self, case: Case, trace: Trace) -> Outcome:
        main = threading.current_thread() is threading.main_thread()
        return Score(value=float(not main), reason=f"{case.id} {trace.id}")


T = TypeVar("T", bound=msgspec.Struct)


@dataclass
class Patient:
    """A client that answers once `crowd` questions wait, and counts how many do."""

    model: str = "scripted:patient"
    params: dict[str, Json] = field(default_factory=dict[str, Json])
    crowd: int = 1
    prompts: list[str] = field(default_factory=list[str])
    crowded: asyncio.Event = field(default_factory=asyncio.Event)
    waiting: int = 0
    most: int = 0
    closed: int = 0

    async def ask(self, question: Question[T], ledger: Ledger) -> Answer[T] | Unscored | Failed:
        self.prompts.append(question.prompt)
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        if self.waiting == self.crowd:
            self.crowded.set()
        await asyncio.wait_for(self.crowded.wait(), 60)
        self.waiting -= 1
        if question.prompt == "boom":
            raise ValueError("no answer")
        ledger.entries.append(_ENTRY)
        return Answer(value=msgspec.convert({"score": 1}, question.answer))

    async def close(self) -> None:
        self.closed += 1


_ENTRY = LedgerEntry(
    address="a", answered=True, cached=False, calls=1, input_tokens=7, output_tokens=2, cost=0.5
)


CASES = tuple(Case(id=f"c{n}", turns=(Turn(user=f"question {n}"),)) for n in range(40))


def trace(number: int, response: str = "fine") -> Trace:
    turn = Turn(user=f"Question {number}", response=response)
    return Trace(id=f"t{number:02}", turns=(turn,))


def recorded(numbers: Sequence[int]) -> list[Trace]:
    return [trace(number, "boom" if number == 7 else "x" * number) for number in numbers]


def batches(size: int = 5) -> list[Batch]:
    starts = range(0, len(CASES), size)
    return [partial(recorded, range(start, start + size)) for start in starts]


def work(
    *metrics: Metric,
    cases: Sequence[Case] | None = CASES,
    crossed: bool = False,
    client: Patient | None = None,
) -> ScoringJob:
    uses = tuple(
        PlannedMetric(metric=metric, threshold=1.0, client=client if metric.judged else None)
        for metric in metrics or (Length(),)
    )
    return ScoringJob(plan=Plan(metrics=uses), cases=cases, crossed=crossed)


def score_judged(job: ScoringJob, batch: Batch) -> BatchResult:
    with JudgeScorer(job) as judging:
        return judging.score(batch)


def quiet(_done: int, _total: int) -> None:
    pass


class Kept:
    """Batches in memory, for as long as the test runs."""

    def __init__(self) -> None:
        self.batches: dict[int, bytes] = {}

    def load(self) -> Iterator[tuple[int, bytes]]:
        yield from self.batches.items()

    def save(self, batches: Mapping[int, bytes], *, restart: bool) -> None:
        self.batches = {**batches, **({} if restart else self.batches)}


def run_batches(job: ScoringJob, batch_list: Sequence[Batch], jobs: int = 1) -> MergedResults:
    return execute(job, batch_list, jobs=jobs, progress=quiet)


def execute_to_json(job: ScoringJob, batch_list: Sequence[Batch], jobs: int = 1) -> bytes:
    return to_json(run_batches(job, batch_list, jobs))


def to_json(merged: MergedResults) -> bytes:
    return msgspec.json.encode([list(merged.results), merged.unmatched, merged.usage])


def test_result_is_independent_of_workers_order_and_batches():
    expected = execute_to_json(work(), batches())
    assert execute_to_json(work(), batches(), jobs=2) == expected
    assert execute_to_json(work(), list(reversed(batches()))) == expected
    assert execute_to_json(work(), batches(1)) == expected


def test_short_run_starts_no_worker_processes():
    batch_list: list[Batch] = [lambda: recorded(range(20)), lambda: recorded(range(20, 40))]
    batch_result = execute(work(), batch_list, jobs=2, progress=quiet, patience=60)
    assert len(batch_result.results) == 40  # a lambda cannot be sent to another process


def test_longer_run_switches_to_worker_processes():
    expected = execute_to_json(work(), batches(1))
    first, *rest = batches(1)
    batch_list: list[Batch] = [lambda: [*_burning(0.2), *first()], *rest]
    batch_result = execute(work(), batch_list, jobs=2, progress=quiet, patience=0.1)
    assert to_json(batch_result) == expected


def test_worker_processes_score_what_is_left():
    first, *rest = batches(5)
    batch_list: list[Batch] = [lambda: [*_burning(0.2), *first()], *rest]
    result = execute(work(Worker()), batch_list, jobs=2, progress=quiet, patience=0.1)
    processes = Counter(item.scores[0].value for item in result.results)
    assert processes[float(os.getpid())] == 5
    assert processes.total() == 40


def _burning(seconds: float) -> list[Trace]:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return []


def test_metric_that_raises_fails_for_that_pair_only():
    batch_result = run_batches(work(), batches())
    broken = [item for item in batch_result.results if item.status == "error"]
    assert [(item.case, item.scores[0].reason) for item in broken] == [
        ("c7", "ValueError: it broke")
    ]
    assert len(batch_result.results) == len(CASES)


def test_stopped_run_resumes_with_the_same_result():
    expected = execute_to_json(work(), batches())

    def interrupted() -> list[Trace]:
        raise KeyboardInterrupt

    kept = Kept()
    checkpoint = Checkpoint(kept, resume=False, patience=0)
    stopped = [*batches()[:3], interrupted, *batches()[4:]]
    with pytest.raises(KeyboardInterrupt):
        execute(work(), stopped, jobs=1, checkpoint=checkpoint, progress=quiet)
    steps: list[tuple[int, int]] = []
    checkpoint.flush()
    again = Checkpoint(kept, resume=True, patience=60)
    batch_result = execute(
        work(),
        batches(),
        jobs=1,
        checkpoint=again,
        progress=lambda now, total: steps.append((now, total)),
    )
    assert steps[0] == (3, 8)
    assert to_json(batch_result) == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_statuses_are_counted_after_every_batch(jobs: int):
    steps: list[CaseCounts] = []
    finished: list[int] = []

    def progress(done: int, _total: int) -> None:
        finished.append(steps[-1].total - 5 * done)

    result = execute(work(), batches(), jobs=jobs, progress=progress, counts=steps.append)
    assert [step.total for step in steps] == [*range(0, len(CASES) + 1, 5)]
    assert set(finished) == {0}  # the counts are there before the progress
    assert steps[-1] == case_counts(Counter(item.status for item in result.results))
    assert (steps[-1].passed, steps[-1].failed, steps[-1].errors) == (len(CASES) - 2, 1, 1)


def test_resumed_run_counts_what_an_earlier_attempt_scored():
    kept = Kept()
    checkpoint = Checkpoint(kept, resume=False, patience=0)
    execute(work(), batches(), jobs=1, checkpoint=checkpoint, progress=quiet)
    checkpoint.flush()
    steps: list[CaseCounts] = []
    again = Checkpoint(kept, resume=True, patience=60)
    execute(work(), batches(), jobs=1, checkpoint=again, progress=quiet, counts=steps.append)
    assert [step.passed for step in steps] == [len(CASES) - 2]


def test_cases_without_a_trace_and_traces_without_a_case_are_listed():
    stranger = Trace(id="stranger", turns=(Turn(user="Who are you?"),))
    batch_list: list[Batch] = [lambda: [trace(0), stranger]]
    batch_result = run_batches(work(cases=CASES[:2]), batch_list)
    assert [(item.case, item.trace, item.status) for item in batch_result.results] == [
        ("c0", "t00", "passed"),
        ("c1", None, "unscored"),
    ]
    assert [item.trace for item in batch_result.unmatched] == ["stranger"]
    assert batch_result.unmatched[0].why == "no case begins with its message"


def test_golden_data_without_cases_is_not_the_same_as_no_golden_data():
    empty = work(cases=()).score(lambda: [trace(0)])
    assert (len(empty.results), [item.trace for item in empty.unmatched]) == (0, ["t00"])
    none = work(cases=None).score(lambda: [trace(0)])
    assert ([item.case for item in none.results], none.unmatched) == ([None], ())


def test_only_case_is_paired_with_the_only_trace():
    only = Trace(id="t", turns=(Turn(user="Something else", response="yes"),))
    batch_list: list[Batch] = [lambda: [only]]
    batch_result = run_batches(work(cases=CASES[:1]), batch_list)
    assert batch_result.results[0].paired_by == "the only case and the only trace"
    assert batch_result.unmatched == ()


def test_repeats_and_crossed_cases_are_scored():
    batch_list: list[Batch] = [lambda: [trace(0), Trace(id="again", turns=trace(0).turns)]]
    repeated = work(cases=CASES[:1]).score(batch_list[0])
    assert [item.trace for item in repeated.results] == ["t00", "again"]
    crossed = work(cases=CASES[:3], crossed=True).score(batch_list[0]).results
    assert [(item.case, item.trace) for item in crossed] == [
        (case, trace) for trace in ("t00", "again") for case in ("c0", "c1", "c2")
    ]
    assert {item.paired_by for item in crossed} == {"every case with every trace"}


def test_judges_are_asked_concurrently():
    client = Patient(crowd=40)  # no answer before the questions of both batches wait
    execute_to_json(work(Slow(), Length(), client=client), batches(20))
    assert client.most == 40
    assert client.closed == 1


def test_judge_sees_the_case_of_its_trace():
    client = Patient()
    score_judged(work(Echo(), client=client), lambda: [trace(3)])
    score_judged(work(Echo(), cases=None, client=client), lambda: [trace(4)])
    assert client.prompts == ["c3 t03", "t04 t04"]  # without golden data, named after the trace


def test_metric_that_waits_does_not_block_the_others():
    (result,) = score_judged(work(Process()), lambda: [trace(3)]).results
    (score,) = result.scores
    assert (score.value, score.reason) == (1.0, "c3 t03")


def test_failing_judge_is_an_error_beside_the_scores_of_other_metrics():
    job = work(Length(), Slow(), client=Patient())
    batch_result = score_judged(job, lambda: [trace(3, "fine"), trace(4, "boom")])
    assert [[score.status for score in item.scores] for item in batch_result.results] == [
        ["passed", "passed"],
        ["error", "error"],
    ]


def test_score_by_a_judge_records_its_cost():
    batch_result = score_judged(work(Slow(), client=Patient()), lambda: [trace(0), trace(1)])
    cost = batch_result.results[0].scores[0].judge_cost
    assert isinstance(cost, JudgeCost)
    assert (cost.model, cost.calls, cost.input_tokens) == ("scripted:patient", 1, 7)
    assert (batch_result.usage["slow"].calls, batch_result.usage["slow"].cost) == (2, 1.0)


def test_judge_fingerprint_contains_model_prompt_and_rubric():
    use = PlannedMetric(metric=Slow(), threshold=1.0, client=Patient()).to_spec()
    assert use.judge == JudgeSpec(
        model="scripted:patient", params={}, prompt="sha256:prompt", rubric="sha256:rubric"
    )


def test_only_case_is_paired_with_the_only_trace_for_a_judge():
    only = Trace(id="t", turns=(Turn(user="Something else", response="yes"),))
    job = work(Slow(), cases=CASES[:1], client=Patient())
    batch_result = run_batches(job, [lambda: [only]])
    assert [item.status for item in batch_result.results] == ["passed"]
    assert batch_result.usage["slow"].answers == 1


def test_without_a_model_a_judge_is_unscored_with_a_hint():
    batch_result = work(Slow()).score(lambda: [trace(0)])
    assert batch_result.results[0].status == "unscored"
    assert "--judge PROVIDER:MODEL" in batch_result.results[0].scores[0].reason


@pytest.mark.parametrize("client", [None, Patient()])
def test_judge_is_not_asked_about_cases_that_do_not_request_it(client: Patient | None):
    wants = msgspec.structs.replace(CASES[0], metrics=("OtherExplain",))
    batch_result = score_judged(work(Slow(), cases=(wants,), client=client), lambda: [trace(0)])
    (score,) = batch_result.results[0].scores
    assert score.reason == "not among the metrics of this case"
    assert score.judge_cost is msgspec.UNSET


def test_progress_of_judges_counts_finished_and_started_pairs():
    seen: list[tuple[int, int]] = []
    with JudgeScorer(work(Slow(), client=Patient(crowd=40))) as judging:
        results: list[int] = []
        judging.score_batches(
            enumerate(batches(20)),
            lambda number, _: results.append(number),
            lambda done, total: seen.append((done, total)),
        )
    assert [done for done, _ in seen] == list(range(1, 41))
    assert {total for _, total in seen} == {40}
    assert sorted(results) == [0, 1]


def test_progress_of_a_single_batch_counts_its_pairs():
    seen: list[tuple[int, int]] = []
    with JudgeScorer(work(Slow(), client=Patient())) as judging:
        judging.score(batches(2)[0], lambda done, total: seen.append((done, total)))
    assert seen[-1] == (2, 2)


def test_judges_are_asked_from_within_a_running_loop():
    """As in a notebook, whose cells run in a loop."""

    async def cell() -> list[str]:
        result = score_judged(work(Slow(), client=Patient()), lambda: [trace(3), trace(4)])
        return [item.status for item in result.results]

    assert asyncio.run(cell()) == ["passed", "passed"]


def test_conversation_that_broke_off_costs_no_question():
    client = Patient()
    broken = msgspec.structs.replace(trace(3), failure=Failed("timeout", "60 s"))
    batch_result = score_judged(work(Slow(), client=client), lambda: [broken])
    (result,) = batch_result.results
    assert (result.case, result.status, client.most) == ("c3", "error", 0)


def test_estimate_counts_the_questions_of_all_batches():
    usage = estimate_usage(work(Slow(), Length(), client=Patient()), batches(20))
    assert (usage["slow"].calls, usage["slow"].input_tokens) == (39, 273)  # one question broke
    assert usage.keys() == {"slow"}


def test_estimate_counts_the_question_about_the_only_case_and_the_only_trace():
    only = Trace(id="t", turns=(Turn(user="Something else", response="yes"),))
    usage = estimate_usage(work(Slow(), cases=CASES[:1], client=Patient()), [lambda: [only]])
    assert usage["slow"].calls == 1


def test_number_of_cpus_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch):
    if hasattr(os, "sched_getaffinity"):
        usable = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(usable)})
        try:
            assert cpu_count() == 1
        finally:
            os.sched_setaffinity(0, usable)
        monkeypatch.delattr(os, "sched_getaffinity")
    assert cpu_count() == (os.cpu_count() or 1)
