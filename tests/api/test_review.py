"""Review queues: labels, agreement, and the metric's opinion, which is hidden until decided."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from carob.analysis.summary import summarise
from carob.api import review
from carob.api.store import save_run
from carob.errors import NotFoundError, RefusedError, UsageError
from carob.schema import CaseResult, CaseScore, Exchange, MetricSpec, Run


def spec(name: str, threshold: float | None = 0.5) -> MetricSpec:
    return MetricSpec(
        name=name, version=1, params={}, threshold=threshold, scale=(0.0, 1.0), better="higher"
    )


def result(number: int) -> CaseResult:
    passed = number % 2 == 0
    status = "passed" if passed else "failed"
    return CaseResult(
        case=f"question_{number}",
        trace=f"trace_{number}",
        status=status,
        scores=(
            CaseScore("tone", status, float(passed), 0.5, "sounds fine" if passed else "rude"),
            CaseScore("length", "info", 12.0),
        ),
        exchanges=(Exchange(f"Question {number}?", "Of course.", f"Answer {number}"),),
    )


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "carob.db")


@pytest.fixture
def run(store: str) -> Run:
    results = tuple(map(result, range(40)))
    made = Run(
        id="run-00000000000000aa",
        created_at="2026-03-02T08:00:00Z",
        verdict="failed",
        dataset=None,
        metrics=(spec("tone"), spec("length", None)),
        cases=results,
        summary=summarise(results, {}),
    )
    save_run(made, store=store)
    return made


def test_the_opinion_of_the_metric_is_hidden_until_the_person_has_decided(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    item = review.get_item(queue.id, by="ida", store=store)
    assert (item.own, item.score) == (None, None)
    review.label_item(queue.id, item.id, "failed", by="ida", note="too curt", store=store)
    decided = review.get_item(queue.id, item.id, by="ida", store=store)
    assert decided.own is not None
    assert (decided.own.label, decided.own.note) == ("failed", "too curt")
    assert decided.score is not None
    assert decided.score.metric == "tone"
    assert review.get_item(queue.id, item.id, by="jon", store=store).score is None


def test_runs_whose_ids_start_alike_have_queues_of_their_own(store: str, run: Run):
    other = msgspec.structs.replace(run, id="run-00000000000000bb")
    save_run(other, store=store)
    queues = [review.create_queue(id, "tone", store=store) for id in (run.id, other.id, run.id)]
    assert [queue.run for queue in queues] == [run.id, other.id, run.id]
    assert queues[0].id == queues[2].id != queues[1].id
    assert review.create_queue(other.id, "tone", store=store).id == queues[1].id


def test_only_selected_items_are_neighbours(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    item = review.get_item(queue.id, by="ida", only=(3, 7), store=store)
    assert (item.number, item.items, item.previous) == (1, 2, None)
    assert {item.id, item.next} == {3, 7}
    last = review.get_item(queue.id, item.next, by="ida", only=(3, 7), store=store)
    assert (last.number, last.next, last.open) == (2, None, item.id)
    with pytest.raises(RefusedError, match="scored none of the selected answers"):
        review.get_item(queue.id, by="ida", only=(99,), store=store)
    with pytest.raises(NotFoundError):
        review.get_item(queue.id, 5, by="ida", only=(3, 7), store=store)


def test_kappa_and_its_interval_move_with_each_label(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    assert queue.kappa is None
    intervals: list[float] = []
    for _ in range(30):
        item = review.get_item(queue.id, by="ida", store=store)
        agreed = "passed" if item.id % 2 == 0 else "failed"
        queue = review.label_item(queue.id, item.id, agreed, by="ida", store=store)
        if queue.kappa:
            intervals.append(queue.kappa.interval[0])
    assert queue.kappa is not None
    assert queue.kappa.value == 1
    assert intervals[-1] > intervals[0]
    assert queue.is_calibrated
    assert queue.missing is None


def test_queue_says_how_many_labels_are_missing(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    for place in (0, 1, 2, 3):
        label = "passed" if place % 2 == 0 else "failed"
        queue = review.label_item(queue.id, place, label, by="ida", store=store)
    assert not queue.is_calibrated
    assert queue.missing is not None
    assert 1 <= queue.missing < 30


def test_items_come_in_an_order_that_does_not_depend_on_their_verdicts(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    places: list[int] = []
    item = review.get_item(queue.id, by="ida", store=store)
    while item.next is not None:
        places.append(item.id)
        item = review.get_item(queue.id, item.next, by="ida", store=store)
    assert sorted([*places, item.id]) == list(range(40))
    assert places != sorted(places)


def test_unsure_decides_nothing_but_shows_the_opinion(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    labelled = review.label_item(queue.id, 3, "unsure", by="ida", store=store)
    assert labelled.labelled == 0
    assert review.get_item(queue.id, 3, by="ida", store=store).score is not None


def test_label_can_be_taken_back(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    review.label_item(queue.id, 3, "passed", by="ida", store=store)
    assert review.undo_label(queue.id, 3, by="ida", store=store).labelled == 0
    with pytest.raises(NotFoundError):
        review.undo_label(queue.id, 3, by="ida", store=store)


def test_waiting_items_are_counted_over_all_queues(store: str, run: Run):
    assert review.count_waiting(store=store) == 0
    queue = review.create_queue(run.id, "tone", store=store)
    review.label_item(queue.id, 3, "passed", by="ida", store=store)
    review.label_item(queue.id, 3, "failed", by="jon", store=store)
    assert review.count_waiting(store=store) == 39


def test_labels_are_those_that_calibrate_reads(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    review.label_item(queue.id, 3, "passed", by="ida", note="fine", store=store)
    (label,) = review.queue_labels(queue.id, store=store)
    assert (label.case, label.trace, label.label) == ("question_3", "trace_3", "passed")
    assert (label.metric, label.by, label.note) == ("tone", "ida", "fine")
    assert review.calibrate_queue(queue.id, store=store).agreement.cases == 1


def test_metric_without_a_threshold_cannot_be_reviewed(store: str, run: Run):
    with pytest.raises(UsageError, match="length has no threshold"):
        review.create_queue(run.id, "length", store=store)
    with pytest.raises(NotFoundError, match="no metric 'tome'"):
        review.create_queue(run.id, "tome", store=store)


def test_label_needs_a_name_and_an_item(store: str, run: Run):
    queue = review.create_queue(run.id, "tone", store=store)
    with pytest.raises(UsageError):
        review.label_item(queue.id, 3, "passed", by=" ", store=store)
    with pytest.raises(NotFoundError):
        review.label_item(queue.id, 99, "passed", by="ida", store=store)
