"""Review: people label answers that a metric has scored, one at a time, and see with each label how
far they and the metric agree."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.analysis.calibration import calibrate
from carob.analysis.calibration_gate import MIN_KAPPA, meets_kappa
from carob.analysis.kappa import labels_until
from carob.api.calibration import save_calibration
from carob.api.clock import timestamp
from carob.api.history import stored_run
from carob.api.load import REGISTRY
from carob.api.store import store_url
from carob.api.views.case import TurnView, view_item
from carob.errors import CarobError, NotFoundError, RefusedError, UsageError
from carob.schema import Calibration, CaseResult, CaseScore, Label, MetricSpec, Run, Turn
from carob.schema.review import ItemLabel, ReviewItem, ReviewLabel, ReviewQueue, ReviewTurn
from carob.store import Database, exists, open_store
from carob.store import review as waiting
from carob.store.calibrations import with_digest
from carob.store.history import find_execution
from carob.store.inbox import open_inbox
from carob.store.retention import keep_sessions
from carob.store.review import (
    StoredLabel,
    StoredQueue,
    add_queue,
    all_queues,
    find_queue,
    put_label,
    read_labels,
    remove_label,
)
from carob.store.run_pages import read_head, read_trace
from carob.text.spelling import did_you_mean

_MAX_NAME = 200
_MAX_NOTE = 20_000


class _Answers(NamedTuple):
    """The answers of a run that a metric has scored."""

    run: Run
    """With these answers only, and of each only the score of the metric."""
    by_place: Mapping[int, CaseResult]


class _Open(NamedTuple):
    """A queue with what it is about."""

    queue: StoredQueue
    answers: _Answers
    order: tuple[int, ...]
    """The positions of its items, in the order in which they are shown."""
    labels: Sequence[StoredLabel]


def create_queue(run: str, metric: str, *, store: str | None = None) -> ReviewQueue:
    """Make a queue of the answers of a run that a metric has scored; the same again is the same
    queue. The metric needs a threshold: people say right or wrong, and it must have said so too."""
    run_id = stored_run(run, store=store).id
    answers = _read_answers(store_url(store), run_id, metric)
    spec = _find_metric(answers.run, metric)
    if spec.threshold is None:
        hint = "give it a threshold, or label numbers in a file for `carob calibrate`"
        raise UsageError(f"{metric} has no threshold, so that it decides nothing", hint=hint)
    if not answers.by_place:
        raise RefusedError(f"{metric} scored no answer of {run_id}")
    number = len(answers.by_place)
    with open_store(store_url(store)) as database:
        id = _queue_id(database, run_id, metric)
        add_queue(database, StoredQueue(id, run_id, metric, number, timestamp()))
    return get_queue(id, store=store)


def list_queues(*, store: str | None = None) -> tuple[ReviewQueue, ...]:
    """List the queues whose runs are still stored, newest first."""
    if not exists(store_url(store)):
        return ()
    with open_store(store_url(store)) as database:
        queues = all_queues(database)
    return tuple(_existing(queues, store))


def count_waiting(*, store: str | None = None) -> int:
    """Return the number of answers that nobody has labelled, in all queues."""
    if not exists(store_url(store)):
        return 0
    with open_store(store_url(store)) as database:
        return waiting.count_waiting(database)


def _existing(queues: Iterable[StoredQueue], store: str | None) -> Iterable[ReviewQueue]:
    for queue in queues:
        with suppress(NotFoundError):  # the run was pruned
            yield get_queue(queue.id, store=store)


def get_queue(queue: str, *, store: str | None = None) -> ReviewQueue:
    """Return a queue with the agreement between people and metric so far."""
    opened = _open_queue(queue, store)
    calibration = _calibrate(opened)
    kappa = calibration.agreement.kappa if calibration else None
    decided = {label.place for label in opened.labels if label.label != "unsure"}
    calibrated = calibration is not None and meets_kappa(calibration, MIN_KAPPA)
    missing = None
    if calibration and not calibrated:
        missing = labels_until(calibration.agreement.confusion.counts, MIN_KAPPA)
    return ReviewQueue(
        id=opened.queue.id,
        run=opened.queue.run,
        metric=opened.queue.metric,
        created_at=opened.queue.created_at,
        items=len(opened.order),
        labelled=len(decided),
        kappa=kappa,
        required=MIN_KAPPA,
        is_calibrated=calibrated,
        missing=missing,
    )


def get_item(
    queue: str,
    item: int | None = None,
    *,
    by: str,
    only: Collection[int] = (),
    golden: Path = REGISTRY.parent,
    registry: Path = REGISTRY,
    store: str | None = None,
) -> ReviewItem:
    """Return an item of a queue; without a number, the first that this person has not decided, or
    else the last. What the metric says is part of it only after the person has decided. With
    `only`, previous and next ones are among these items."""
    opened = _open_queue(queue, store)
    if only:
        opened = opened._replace(order=tuple(place for place in opened.order if place in only))
        if not opened.order:
            raise RefusedError(f"{opened.queue.metric} scored none of the selected answers")
    done = {label.place for label in opened.labels if label.reviewer == by}
    unlabelled = (place for place in opened.order if place not in done)
    place = item if item is not None else next(unlabelled, opened.order[-1])
    index = _index(opened, place)
    own = next((x for x in opened.labels if (x.place, x.reviewer) == (place, by)), None)
    view = view_item(opened.queue.run, place, golden=golden, registry=registry, store=store)
    following = [*opened.order[index + 1 :], *opened.order[:index]]
    return ReviewItem(
        id=place,
        number=index + 1,
        items=len(opened.order),
        case=view.result.case or view.result.trace or "",
        trace=view.result.trace,
        turns=tuple(map(_review_turn, view.turns)),
        has_golden=view.has_golden,
        own=_own_label(own) if own else None,
        score=_score(view.result.scores, opened.queue.metric) if own else None,
        previous=opened.order[index - 1] if index else None,
        next=opened.order[index + 1] if index + 1 < len(opened.order) else None,
        open=next((other for other in following if other not in done), None),
    )


def _review_turn(turn: TurnView) -> ReviewTurn:
    expected, actual = turn.expected or Turn(), turn.actual or Turn()
    return ReviewTurn(
        user=expected.user if turn.expected else actual.user,
        expected=expected.response,
        actual=actual.response,
        expected_calls=expected.tool_calls,
        actual_calls=actual.tool_calls,
    )


def label_item(
    queue: str,
    item: int,
    label: ReviewLabel,
    *,
    by: str,
    note: str = "",
    store: str | None = None,
) -> ReviewQueue:
    """Say whether an answer is right, instead of what this person said before."""
    opened = _open_queue(queue, store)
    _index(opened, item)
    name = " ".join(by.split())
    if not name or len(name) > _MAX_NAME or len(note) > _MAX_NOTE:
        hint = f"a name of 1 to {_MAX_NAME} characters, a note of at most {_MAX_NOTE:,}"
        raise UsageError("the label has no valid name or note", hint=hint)
    text = note.replace("\0", "\ufffd").strip()
    stored = StoredLabel(item, name.replace("\0", "\ufffd"), label, text, timestamp())
    with open_store(store_url(store)) as database:
        put_label(database, queue, stored)
        number, _ = read_head(database, find_execution(database, opened.queue.run))
        trace = read_trace(database, number, item)
    if trace and trace.conversation:  # it may be a session, which is then not removed to make room
        with open_inbox(store_url(store)) as inbox:
            keep_sessions(inbox, [trace.conversation])
    return get_queue(queue, store=store)


def undo_label(queue: str, item: int, *, by: str, store: str | None = None) -> ReviewQueue:
    """Take a label back."""
    _open_queue(queue, store)
    with open_store(store_url(store)) as database:
        if not remove_label(database, queue, item, by):
            raise NotFoundError(f"{by or 'nobody'} has no label for item {item}")
    return get_queue(queue, store=store)


def queue_labels(queue: str, *, store: str | None = None) -> tuple[Label, ...]:
    """Return the labels of a queue, as `carob calibrate` reads them from a file."""
    return tuple(_labels(_open_queue(queue, store)))


def calibrate_queue(queue: str, *, store: str | None = None, save: bool = False) -> Calibration:
    """Return the calibration of the metric by the labels of a queue, and with `save` save it where
    a gate looks for it."""
    calibration = _calibrate(_open_queue(queue, store))
    if calibration is None:
        hint = "label some answers as right and some as wrong"
        raise RefusedError("there are no labels to compare the metric with", hint=hint)
    if save:
        save_calibration(with_digest(calibration), store=store)
    return with_digest(calibration)


def _open_queue(id: str, store: str | None) -> _Open:
    with open_store(store_url(store)) as database:
        queue = find_queue(database, id)
        labels = read_labels(database, id)
    answers = _read_answers(store_url(store), queue.run, queue.metric)
    # Shuffled, always in the same way: whoever stops half way has labelled a fair sample, and not
    # the cases that failed or those at the start of the file.
    order = sorted(answers.by_place, key=lambda place: blake2b(f"{id}/{place}".encode()).digest())
    return _Open(queue, answers, tuple(order), labels)


@lru_cache(maxsize=4)
def _read_answers(store: str, name: str, metric: str) -> _Answers:
    """Read the answers once for all labels: a stored run never changes."""
    run = stored_run(name, store=store)
    by_place: dict[int, CaseResult] = {}
    for place, result in enumerate(run.cases):
        score = _score(result.scores, metric)
        if score:
            by_place[place] = msgspec.structs.replace(result, scores=(score,), exchanges=())
    return _Answers(msgspec.structs.replace(run, cases=tuple(by_place.values())), by_place)


def _calibrate(opened: _Open) -> Calibration | None:
    labels = tuple(_labels(opened))
    if not labels:
        return None
    try:
        run = opened.answers.run
        spec = _find_metric(run, opened.queue.metric)
        return calibrate(run, spec, labels, timestamp())
    except CarobError:  # statistics are an extra
        return None


def _labels(opened: _Open) -> Iterable[Label]:
    for label in opened.labels:
        result = opened.answers.by_place.get(label.place)
        if result and label.label in ("passed", "failed"):
            yield Label(
                case=result.case or "",
                label="passed" if label.label == "passed" else "failed",
                trace=result.trace,
                metric=opened.queue.metric,
                by=label.reviewer,
                note=label.note or None,
            )


def _own_label(label: StoredLabel) -> ItemLabel:
    words: dict[str, ReviewLabel] = {"passed": "passed", "failed": "failed"}
    return ItemLabel(
        by=label.reviewer, label=words.get(label.label, "unsure"), note=label.note, at=label.at
    )


def _index(opened: _Open, place: int) -> int:
    if place not in opened.order:
        raise NotFoundError(f"the queue has no item {place}")
    return opened.order.index(place)


def _find_metric(run: Run, name: str) -> MetricSpec:
    specs = [spec for spec in run.metrics if spec.name == name]
    if len(specs) == 1:
        return specs[0]
    known = [spec.name for spec in run.metrics]
    if specs:
        raise UsageError(f"{run.id} has {len(specs)} metrics named {name!r}")
    hint = did_you_mean(name, known) or f"metrics: {', '.join(known)}"
    raise NotFoundError(f"{run.id} has no metric {name!r}", hint=hint)


def _score(scores: Iterable[CaseScore], metric: str) -> CaseScore | None:
    found = (score for score in scores if score.metric == metric)
    return next((score for score in found if score.value is not None), None)


def _queue_id(database: Database, run: str, metric: str) -> str:
    """Return a short id, or a long one if the queue of another run has the short one."""
    long = f"{metric}-{run.removeprefix('run-')}"
    short = long[: len(metric) + 9]
    with suppress(NotFoundError):
        if find_queue(database, short).run != run:
            return long
    return short
