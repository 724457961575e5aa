"""Which container does an item belong to? The items decide, never the keys around them.

What is not OTLP as it is specified is imported when it is met: it takes longer than a small file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import chain

from carob.errors import CarobError, FormatError, UnknownFormatError
from carob.schema import Json, Problem
from carob.traces.containers import otlp, otlp_proto
from carob.traces.containers.container import Container, Record
from carob.traces.reading.source import Report
from carob.traces.shape import parsed, table

_WRAPPERS = (
    "data",
    "trace",
    "traces",
    "result",
    "results",
    "spans",
    "items",
    "records",
    "rows",
    "runs",
    "events",
    "simulations",
    "batch",
    "payload",
    "hits",
    "_source",
    "value",
    "tables",
    "Traces",
    "Segments",
    "Document",
)
_MAX_WRAPPERS = 8
_MAX_QUOTES = 3
_MAX_LOOKED_AT = 1000
_MAX_SHOWN = 12


@cache
def _containers() -> tuple[Container, ...]:
    return import_module("carob.traces.containers.registry").CONTAINERS


def _is_message(item: Json) -> bool:
    messages = import_module("carob.traces.messages.chat")
    return messages.is_message(item)


def container_of(item: Json) -> Container | None:
    """The container that claims the item."""
    return next((container for container in _containers() if container.claims(item)), None)


def read_items(
    values: Iterable[Json | bytes | otlp.Records], *, source: str, report: Report | None = None
) -> Iterator[Record]:
    """The spans, log records and traces of a file's values.

    A value that no container claims is an error, or with `report` a warning as long as others are
    claimed. A file that holds nothing is always an error.
    """
    return chain.from_iterable(read_batches(values, source=source, report=report))


def read_batches(
    values: Iterable[Json | bytes | otlp.Records], *, source: str, report: Report | None = None
) -> Iterator[Iterable[Record]]:
    """The same, by value; the records of one value must be taken before those of the next."""
    return _Reading(source, report).read(values)


class _Reading:
    """What was seen so far of one file."""

    def __init__(self, source: str, report: Report | None) -> None:
        self.source = source
        self.report = report
        self.number = 0
        self.given = 0
        self.seen: dict[str, int] = {}
        self.unknown: UnknownFormatError | None = None
        self.strangers = 0
        self.messages: list[Json] = []

    def read(self, values: Iterable[Json | bytes | otlp.Records]) -> Iterator[Iterable[Record]]:
        for self.number, value in enumerate(values, 1):
            if isinstance(value, otlp.Records):
                self._count("otlp")
                self.given += len(value)
                yield value
            else:
                yield self._counted(value)
        if self.messages:
            self.given += 1
            chat = import_module("carob.traces.containers.chat")
            yield chat.Chat().read(self.messages, source=self.source)
        self._finish()

    def _counted(self, value: Json | bytes) -> Iterator[Record]:
        try:
            for record in self._value(value):
                self.given += 1
                yield record
        except RecursionError:
            raise FormatError("nested too deeply", where=self._where()) from None

    def _value(self, value: Json | bytes) -> Iterator[Record]:
        if isinstance(value, bytes):
            self._count("otlp protobuf")
            return otlp_proto.read(value, source=self.source)
        return self._items(value, _MAX_WRAPPERS)

    def _items(self, item: Json, depth: int) -> Iterator[Record]:
        item = _unquoted(item)
        container = container_of(item)
        if container is not None:
            self._count(container.name)
            yield from container.read(item, source=self.source)
        elif isinstance(item, list) and depth:
            for inner in item:
                yield from self._items(inner, depth - 1)
        elif depth and (framed := _unframed(item)) is not None:
            yield from self._items([*framed], depth - 1)
        elif (inner := _unwrapped(item, depth)) is not None:
            yield from self._items(inner, depth - 1)
        elif _is_message(item):
            self.messages.append(item)
        else:
            self._stranger(item)

    def _count(self, name: str) -> None:
        self.seen[name] = self.seen.get(name, 0) + 1

    def _stranger(self, item: Json) -> None:
        self.strangers += 1
        if self.unknown is None:
            self.unknown = UnknownFormatError(
                f"no trace format claims {described(item)}",
                where=self._where(),
                hint="looked for " + ", ".join(container.name for container in _containers()),
            )
        if self.report is None:
            raise self.unknown

    def _finish(self) -> None:
        if not self.given:
            raise self.unknown if self.unknown and not self.seen else self._empty()
        if self.unknown and self.report:
            self.report(self._skipped(self.unknown))

    def _empty(self) -> CarobError:
        seen = ", ".join(f"{count} × {name}" for name, count in self.seen.items()) or "nothing"
        return FormatError(
            f"no spans in {self.number} values: saw {seen}",
            where=self.source,
            hint="was anything recorded, and did the export include its spans?",
        )

    def _skipped(self, unknown: UnknownFormatError) -> Problem:
        more = f" (and {self.strangers - 1} more)" if self.strangers > 1 else ""
        return Problem(
            where=unknown.where or self.source,
            message=unknown.message + more,
            hint=unknown.hint,
            severity="warning",
        )

    def _where(self) -> str:
        return f"{self.source} value {self.number}"


def _unquoted(item: Json) -> Json:
    """What a string of JSON says, also one that was quoted twice."""
    for _ in range(_MAX_QUOTES):
        if not isinstance(item, str):
            break
        item = parsed(f"[{item}]" if item.lstrip().startswith('"') else item)
        if isinstance(item, list) and len(item) == 1 and isinstance(item[0], str):
            item = item[0]
    return item


def _unframed(item: Json) -> list[dict[str, Json]] | None:
    return import_module("carob.traces.containers.frames").unframed(item)


def _unwrapped(item: Json, depth: int) -> Json:
    """The part of an object that holds items which somebody claims."""
    held = table(item)
    inners = (parsed(held.get(key)) for key in _WRAPPERS if held.get(key))
    return next((inner for inner in inners if _holds_items(inner, depth - 1)), None)


def _holds_items(item: Json, depth: int) -> bool:
    if depth <= 0 or not isinstance(item, list | dict):
        return False
    if container_of(item) is not None:
        return True
    if isinstance(item, list):
        return any(_holds_items(parsed(inner), depth - 1) for inner in item[:_MAX_LOOKED_AT])
    if _unwrapped(item, depth) is not None:
        return True
    framed = _unframed(item)
    return framed is not None and container_of(framed[0]) is not None


def described(item: Json) -> str:
    """What an item looks like, for a message."""
    if isinstance(item, dict):
        return f"an object with {_keys(item)}{_within(item)}" if item else "{}"
    if isinstance(item, list):
        return f"a list of {len(item)} values"
    return f"the value {repr(item)[:60]}"


def _keys(item: dict[str, Json]) -> str:
    shown = ", ".join(repr(key[:60]) for key in list(item)[:_MAX_SHOWN])
    return f"the keys {shown}{', …' if len(item) > _MAX_SHOWN else ''}"


def _within(item: dict[str, Json]) -> str:
    """What the first list or object that might hold items has in it."""
    for key in _WRAPPERS:
        inner = item.get(key)
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict) and inner:
            return f", in {key!r} {_keys(inner)}"
    return ""
