"""The parts of addresses that routes and pages share."""

from __future__ import annotations

from carob.server.binding import Query


class RunPath(Query, frozen=True):
    """A run: its id or the start of it, `latest`, `latest~1`, `latest:DATASET` or `LABEL:VALUE`."""

    run: str


class CasePath(Query, frozen=True):
    """A case of a run."""

    run: str
    case: str


class JobPath(Query, frozen=True):
    """A run in the making."""

    job: str


class DatasetPath(Query, frozen=True):
    """A dataset, by its name or by its file name without suffixes."""

    name: str


class SessionPath(Query, frozen=True):
    """A session."""

    session: str


class QueuePath(Query, frozen=True):
    """A review queue."""

    queue: str
