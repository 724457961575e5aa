"""The parts of addresses that routes and pages share."""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.convertors import PathConvertor, register_url_convertor

from carob.server.binding import Query
from carob.server.problems import RequestError


class _AnyTextConvertor(PathConvertor):
    """The rest of an address. Starlette's own ends at a line break, and agents name sessions."""

    regex = "(?s:.*)"


register_url_convertor("path", _AnyTextConvertor())
_PLACES = re.compile(r"\d{1,9}(?:,\d{1,9})*", re.ASCII)


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


def parse_places(text: str | None) -> tuple[int, ...]:
    """Read the positions of cases in a run from an address."""
    if not text:
        return ()
    if not _PLACES.fullmatch(text):
        raise RequestError(400, f"invalid positions {text!r:.60}", hint="such as `3,7,12`")
    return tuple(map(int, text.split(",")))


def places_text(places: Iterable[int]) -> str:
    """Write positions of cases into an address."""
    return ",".join(map(str, places))
