"""Review queues: answers to label, and the agreement of a metric with the labels."""

from __future__ import annotations

from carob.api import review as review_api
from carob.schema import Calibration, Label
from carob.schema.base import Struct
from carob.schema.review import ReviewItem, ReviewLabel, ReviewQueue
from carob.server.binding import Endpoints, Query, Reply, WholeList
from carob.server.paths import QueuePath
from carob.server.workspace import Workspace

endpoints = Endpoints()


class QueueList(WholeList, frozen=True, kw_only=True, omit_defaults=False):
    """The review queues of a server, newest first."""

    items: tuple[ReviewQueue, ...]
    waiting: int
    """Answers that nobody has labelled, in all queues."""


class LabelList(Struct, frozen=True, omit_defaults=False):
    """The labels of a queue, as `carob calibrate` reads them."""

    labels: tuple[Label, ...]


class QueueRequest(Query, frozen=True):
    """A queue to open."""

    run: str
    """A stored run: its id or the start of it, `latest`, `latest:DATASET` or `LABEL:VALUE`."""
    metric: str
    """The metric to compare with the labels."""


class ItemPath(Query, frozen=True):
    """An answer in a queue."""

    queue: str
    item: int


class PersonQuery(Query, frozen=True):
    """Who labels."""

    by: str


class LabelRequest(Query, frozen=True):
    """What a person says about an answer."""

    label: ReviewLabel
    by: str
    note: str = ""


@endpoints.get("/api/queues")
def list_queues(workspace: Workspace) -> QueueList:
    """List the review queues, newest first."""
    queues = review_api.list_queues(store=workspace.store)
    waiting = review_api.count_waiting(store=workspace.store)
    return QueueList(items=queues, total=len(queues), waiting=waiting)


@endpoints.post("/api/queues")
def open_queue(workspace: Workspace, body: QueueRequest) -> Reply[ReviewQueue]:
    """Open a review queue over the answers of a run. The same again is the same queue."""
    queue = review_api.create_queue(body.run, body.metric, store=workspace.store)
    return Reply(queue, 201, {"Location": f"/api/queues/{queue.id}"})


@endpoints.get("/api/queues/{queue}")
def get_queue(workspace: Workspace, path: QueuePath) -> ReviewQueue:
    """Return a queue, with the agreement of its metric with the labels so far."""
    return review_api.get_queue(path.queue, store=workspace.store)


@endpoints.get("/api/queues/{queue}/next")
def next_item(workspace: Workspace, path: QueuePath, query: PersonQuery) -> ReviewItem:
    """Return the next answer that this person has not labelled, or else the last one."""
    return _get_item(workspace, path.queue, None, query.by)


@endpoints.get("/api/queues/{queue}/labels")
def list_labels(workspace: Workspace, path: QueuePath) -> LabelList:
    """Return the labels of a queue, as `carob calibrate` reads them."""
    return LabelList(review_api.queue_labels(path.queue, store=workspace.store))


@endpoints.post("/api/queues/{queue}/calibration")
def calibrate_queue(workspace: Workspace, path: QueuePath) -> Reply[Calibration]:
    """Calibrate the metric of a queue by its labels, and save the result for gates."""
    calibration = review_api.calibrate_queue(path.queue, store=workspace.store, save=True)
    return Reply(calibration, 201)


@endpoints.get("/api/queues/{queue}/items/{item}")
def get_item(workspace: Workspace, path: ItemPath, query: PersonQuery) -> ReviewItem:
    """Return an answer of a queue. Its score is hidden until this person has labelled it."""
    return _get_item(workspace, path.queue, path.item, query.by)


def _get_item(workspace: Workspace, queue: str, item: int | None, by: str) -> ReviewItem:
    return review_api.get_item(
        queue,
        item,
        by=by,
        golden=workspace.golden,
        registry=workspace.registry,
        store=workspace.store,
    )


@endpoints.put("/api/queues/{queue}/items/{item}/label")
def put_label(workspace: Workspace, path: ItemPath, body: LabelRequest) -> ReviewQueue:
    """Label an answer, and return the queue with the new agreement."""
    return review_api.label_item(
        path.queue, path.item, body.label, by=body.by, note=body.note, store=workspace.store
    )


@endpoints.delete("/api/queues/{queue}/items/{item}/label")
def delete_label(workspace: Workspace, path: ItemPath, query: PersonQuery) -> ReviewQueue:
    """Take a label back."""
    return review_api.undo_label(path.queue, path.item, by=query.by, store=workspace.store)
