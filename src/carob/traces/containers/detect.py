"""Find the container of an item: the items decide, never the keys around them.

Containers other than plain OTLP are loaded when an item needs them, because importing them takes
longer than reading a small file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from carob.errors import CarobError, FormatError, UnknownFormatError
from carob.schema import Json, Problem
from carob.schema.problem import ProblemListener
from carob.traces.containers import otlp, otlp_proto
from carob.traces.containers.container import LineContainer, Record
from carob.traces.containers.foreign import find_nearest, name_foreign
from carob.traces.containers.registry import find_container, line_containers
from carob.traces.shape import as_array, as_object, as_text, decode_structure

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
_SPAN_COLUMNS = frozenset(("context.span_id", "span_id", "spanId", "SpanId", "id", "trace_id"))
_MAX_WRAPPERS = 8
_MAX_QUOTES = 3
_MAX_SAMPLED_ITEMS = 1000
_MAX_SHOWN_KEYS = 12


def read_items(
    values: Iterable[Json | bytes | otlp.Records],
    *,
    source: str,
    report: ProblemListener | None = None,
) -> Iterator[Record]:
    """The spans, log records and traces of a file's values.

    A value that no container claims is an error, or with `report` a warning as long as others are
    claimed. A file without any record is always an error.
    """
    return chain.from_iterable(read_batches(values, source=source, report=report))


def read_batches(
    values: Iterable[Json | bytes | otlp.Records],
    *,
    source: str,
    report: ProblemListener | None = None,
) -> Iterator[Iterable[Record]]:
    """The same, one batch per value; consume a batch before asking for the next."""
    return _FileReader(source, report).read(values)


class _FileReader:
    """Reads the values of one file, and counts what they hold."""

    def __init__(self, source: str, report: ProblemListener | None) -> None:
        self.source = source
        self.report = report
        self.value_number = 0
        self.record_count = 0
        self.containers: dict[str, int] = {}
        self.first_unknown: UnknownFormatError | None = None
        self.unknown_count = 0
        self.lines: dict[str, tuple[LineContainer, list[Json]]] = {}
        """The items of containers that have one item per line, by the container's name."""

    def read(self, values: Iterable[Json | bytes | otlp.Records]) -> Iterator[Iterable[Record]]:
        for self.value_number, value in enumerate(values, 1):
            if isinstance(value, otlp.Records):
                self._count_container("otlp")
                self.record_count += len(value)
                yield value
            else:
                yield self._count_records(value)
        for container, lines in self.lines.values():
            yield self._count_all(container.read(lines, source=self.source))
        self._finish()

    def _count_records(self, value: Json | bytes) -> Iterator[Record]:
        try:
            yield from self._count_all(self._read_value(value))
        except RecursionError:
            raise FormatError("nested too deeply", where=self._where()) from None

    def _count_all(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            self.record_count += 1
            yield record

    def _read_value(self, value: Json | bytes) -> Iterator[Record]:
        if isinstance(value, bytes):
            self._count_container("otlp protobuf")
            return otlp_proto.read(value, source=self.source)
        return self._read_item(value, _MAX_WRAPPERS)

    def _read_item(self, item: Json, depth: int) -> Iterator[Record]:
        item = _unquote(item)
        container = find_container(item)
        line_container = None if container is not None else _find_line_container(item)
        if container is not None:
            self._count_container(container.name)
            yield from container.read(item, source=self.source)
        elif isinstance(item, list) and depth:
            for inner in item:
                yield from self._read_item(inner, depth - 1)
        # A line of a known program may have a wrapper's key; only messages are as vague as these.
        elif line_container is not None and line_container.name != "chat":
            self._add_line(line_container, item)
        # Tables before wrappers: pandas' `{"columns": …, "data": …}` looks like both.
        elif depth and (table_rows := _rows_of_table(item)) is not None:
            yield from self._read_item([*table_rows], depth - 1)
        elif inners := _unwrap(item, depth):
            for inner in inners:
                yield from self._read_item(inner, depth - 1)
        elif line_container is not None:
            self._add_line(line_container, item)
        else:
            self._add_unknown(item)

    def _add_line(self, container: LineContainer, item: Json) -> None:
        if container.name not in self.lines:
            self._count_container(container.name)
        self.lines.setdefault(container.name, (container, []))[1].append(item)

    def _count_container(self, name: str) -> None:
        self.containers[name] = self.containers.get(name, 0) + 1

    def _add_unknown(self, item: Json) -> None:
        self.unknown_count += 1
        if self.first_unknown is None:
            self.first_unknown = self._unknown_error(item)
        # With a listener the file is read to its end: one unknown value among thousands must not
        # cost the others.
        if self.report is None:
            raise self.first_unknown

    def _unknown_error(self, item: Json) -> UnknownFormatError:
        if foreign := name_foreign(item):
            return UnknownFormatError(
                f"{foreign.name} is not a supported trace container",
                where=self._where(),
                hint=foreign.hint,
            )
        return UnknownFormatError(
            f"no trace container matches {describe_item(item)}",
            where=self._where(),
            hint=_describe_nearest(item),
        )

    def _finish(self) -> None:
        unknown = self.first_unknown
        if not self.record_count:
            raise unknown if unknown and not self.containers else self._no_spans_error()
        if unknown and self.report:
            self.report(self._unknown_problem(unknown))
        if len(self.lines) > 1 and self.report:
            self.report(self._mixed_problem())

    def _mixed_problem(self) -> Problem:
        """The lines of one program that look like those of several: each part is incomplete."""
        counts = [f"{len(lines)} × {name}" for name, (_, lines) in self.lines.items()]
        return Problem(
            where=self.source,
            message=f"lines of several kinds were read apart from each other: {', '.join(counts)}",
            hint="check that the file is of one program, and that its turns are complete",
            severity="warning",
        )

    def _no_spans_error(self) -> CarobError:
        counts = [f"{count} × {name}" for name, count in self.containers.items()]
        values = "1 value" if self.value_number == 1 else f"{self.value_number} values"
        return FormatError(
            f"no spans and no messages in {values}: found {', '.join(counts) or 'nothing'}",
            where=self.source,
            hint="check that the run was recorded, and that the export includes its content",
        )

    def _unknown_problem(self, unknown: UnknownFormatError) -> Problem:
        more = f" (and {self.unknown_count - 1} more)" if self.unknown_count > 1 else ""
        return Problem(
            where=unknown.where or self.source,
            message=unknown.message + more,
            hint=unknown.hint,
            severity="warning",
        )

    def _where(self) -> str:
        return f"{self.source} value {self.value_number}"


def _describe_nearest(item: Json) -> str:
    nearest = find_nearest(item)
    if nearest is None:
        # Late: the container that is asked last, which only unknown items need.
        from carob.traces.containers.log import describe_lacking_field

        if lacking := describe_lacking_field(item):
            return lacking
        return "name its fields with --map, such as user=query,response=answer"
    name, lacking = nearest
    missing = ", ".join(map(repr, lacking))
    other = f"without {missing}" if missing else "in another shape"
    return f"nearest is {name}, {other}; name the fields of a log with --map user=…,response=…"


def _find_line_container(item: Json) -> LineContainer | None:
    return next((line for line in line_containers() if line.claims_line(item)), None)


def _unquote(item: Json) -> Json:
    """Parse a string of JSON, also one that was quoted twice."""
    for _ in range(_MAX_QUOTES):
        if not isinstance(item, str):
            break
        item = decode_structure(f"[{item}]" if item.lstrip().startswith('"') else item)
        if isinstance(item, list) and len(item) == 1 and isinstance(item[0], str):
            item = item[0]
    return item


def _unwrap(item: Json, depth: int) -> list[Json]:
    """The parts of an object that hold items which a container claims.

    All of them: `{"traces": …, "spans": …}` has the traces in one and their spans in the other.
    """
    # Only a key whose value holds such items counts. By the name alone, `data` of an unknown object
    # would be entered, and the error would name the keys inside instead of those of the item.
    fields = as_object(item)
    inners = (decode_structure(fields.get(key)) for key in _WRAPPERS if fields.get(key))
    holders = [inner for inner in inners if _holds_items(inner, depth - 1)]
    return holders or _groups_of(fields)


def _groups_of(fields: dict[str, Json]) -> list[Json]:
    """The lists of an object that has items in lists by the ids of their sessions, as AGNTCY's."""
    groups = list(fields.values())
    firsts = [group[0] for group in groups if isinstance(group, list) and group]
    is_grouped = len(firsts) == len(groups) and all(isinstance(first, dict) for first in firsts)
    return groups if is_grouped and all(find_container(first) for first in firsts) else []


def _holds_items(item: Json, depth: int) -> bool:
    if depth <= 0 or not isinstance(item, list | dict):
        return False
    if find_container(item) is not None:
        return True
    if isinstance(item, list):
        return any(
            _holds_items(decode_structure(inner), depth - 1) for inner in item[:_MAX_SAMPLED_ITEMS]
        )
    if _unwrap(item, depth):
        return True
    table_rows = _rows_of_table(item)
    return table_rows is not None and find_container(table_rows[0]) is not None


def _rows_of_table(item: Json) -> list[dict[str, Json]] | None:
    """The rows of a query result or a pandas data frame; `None` if the item is not a table.

    Pandas writes a frame as `{column: {index: value}}`, `{index: {column: value}}` or
    `{"columns": …, "data": …}`, depending on its `orient` option.
    """
    fields = as_object(item)
    if isinstance(columns := fields.get("columns"), list) and columns:
        return _zip_rows(columns, as_array(fields.get("rows")) or as_array(fields.get("data")))
    if not fields or not all(isinstance(inner, dict) for inner in fields.values()):
        return None
    if not _SPAN_COLUMNS.isdisjoint(fields):  # by column, then by index
        return _transpose(fields)
    by_index = [as_object(row) for row in fields.values()]
    return by_index if not _SPAN_COLUMNS.isdisjoint(by_index[0]) else None


def _zip_rows(columns: list[Json], cells: list[Json]) -> list[dict[str, Json]] | None:
    names = [as_text(column) or as_text(as_object(column).get("name")) or "" for column in columns]
    return [dict(zip(names, row, strict=False)) for row in cells if isinstance(row, list)] or None


def _transpose(columns: dict[str, Json]) -> list[dict[str, Json]]:
    by_index: dict[str, dict[str, Json]] = {}
    for name, column in columns.items():
        for index, value in as_object(column).items():
            by_index.setdefault(index, {})[name] = value
    return list(by_index.values())


def describe_item(item: Json) -> str:
    """What an item looks like, for a message."""
    if isinstance(item, dict):
        return f"an object with {_list_keys(item)}{_describe_inner(item)}" if item else "{}"
    if isinstance(item, list):
        return f"a list of {len(item)} values"
    return f"the value {repr(item)[:60]}"


def _list_keys(item: dict[str, Json]) -> str:
    shown = ", ".join(repr(key[:60]) for key in list(item)[:_MAX_SHOWN_KEYS])
    return f"the keys {shown}{', …' if len(item) > _MAX_SHOWN_KEYS else ''}"


def _describe_inner(item: dict[str, Json]) -> str:
    """The keys of the first list or object that could be a wrapper around items."""
    for key in _WRAPPERS:
        inner = item.get(key)
        inner = inner[0] if isinstance(inner, list) and inner else inner
        if isinstance(inner, dict) and inner:
            return f", in {key!r} {_list_keys(inner)}"
    return ""
