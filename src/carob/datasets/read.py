"""Read a golden file as a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

import msgspec

from carob.datasets.dialect import FRAME_KEY
from carob.datasets.document_types import struct_info
from carob.datasets.formats import Format, NamedFormat, format_within, list_key
from carob.datasets.sidecar import Sidecar, read_sidecar
from carob.datasets.source import LIST_KEY, Container, Row, Source, open_sources
from carob.errors import CarobError, FormatError, UnknownFormatError, UsageError
from carob.files.collector import collector_paused
from carob.files.ids import make_unique
from carob.files.spool import Spool
from carob.schema import Case, Dataset, Json
from carob.schema.codec import CASES
from carob.schema.problem import ProgressListener, ignore
from carob.text.spelling import did_you_mean, fold_name


class GoldenFile(NamedTuple):
    """An open golden file of a known format."""

    source: Source
    format: Format
    container: Container
    frame: Json
    """The document without its cases."""
    progress: ProgressListener = ignore
    """Receives the bytes that were read, and their total, while the cases are read."""

    def items(self) -> Iterator[Row]:
        """The cases as the file states them; only rows have line numbers."""
        return self._rows() if self.progress is ignore else self._watch_rows()

    def _watch_rows(self) -> Iterator[Row]:
        total, done = self.source.path.stat().st_size, 0
        count = self._count_items()
        for number, row in enumerate(self._rows(), start=1):
            yield row
            done = total * number // count if count else done + _estimate_size(row)
            self.progress(min(done, total), total)

    def _count_items(self) -> int | None:
        """The number of cases in a document; only rows are not known before they are read."""
        if self.source.listed:
            return len(self.source.listed.items)
        if self.container == "document":
            return len(self.format.items(self.source.document))
        return len(self.source.document) if isinstance(self.source.document, list) else None

    def _rows(self) -> Iterator[Row]:
        document = self.source.document
        if self.source.listed:
            yield from self.source.list_items()
        elif self.container == "document":
            yield from (Row(0, item) for item in self.format.items(document))
        elif self.container == "list" and isinstance(document, list):
            yield from (Row(0, item) for item in document)
        elif self.source.container == "document":
            yield Row(1, document)
        else:
            yield from self.source.rows()

    @property
    def has_paths(self) -> bool:
        """Whether cases are located by their paths in a document, not by their lines."""
        return self.container in ("document", "list")

    def locate(self, index: int, row: Row, path: str = "$") -> str:
        """The location of a path within a case: `line 7 $.reference_data`."""
        if not self.has_paths:
            return f"line {row.line} {path}"
        whole = self.item_path(index, row) + path.removeprefix("$")
        line = self.source.find_lines([whole]).get(whole)
        return f"line {line} {whole}" if line else whole

    def item_path(self, index: int, row: Row) -> str:
        """The path of a case in its document; `$` if the document is one case."""
        if row.value is self.source.document:
            return "$"
        key = list_key(self.source.document, self.format.items_keys)
        return f"$.{key}[{index}]" if key else f"$[{index}]"


def _estimate_size(row: Row) -> int:
    """About how many bytes of the file a row takes; the cells of a table without its quotes."""
    if row.data:
        return len(row.data) + 1
    cells = row.value if isinstance(row.value, dict) else {}
    return sum(len(cell) + 1 for cell in cells.values() if isinstance(cell, str))


def open_golden(
    path: Path,
    formats: Sequence[Format],
    name: str | None = None,
    *,
    progress: ProgressListener = ignore,
) -> GoldenFile:
    """Open a file and detect its format from its content, or use the format `name`."""
    if name is not None:
        formats = [get_format(name, formats)]
    sources = open_sources(path, split=True)
    opened = _detect(sources, formats, is_named=name is not None)
    if sources[0].listed and not (opened and _lists_cases(opened)):
        # The list is not, or not only, a list of cases: the format needs all of the document.
        sources = open_sources(path)
        opened = _detect(sources, formats, is_named=name is not None)
    if opened:
        return opened._replace(progress=progress)
    source = sources[0]
    if missing := _missing_column(source, formats):
        form, column = missing
        raise UnknownFormatError(
            f"missing column {column!r} of the format {form.name}",
            where=str(path),
            hint=f"{_describe_sample(source)}; add it, or rename one of these",
        )
    raise UnknownFormatError(
        f"no golden format matches this {source.kind}",
        where=str(path),
        hint=f"{_describe_sample(source)}; {_suggest(source, formats)}",
    )


def _detect(
    sources: Sequence[Source], formats: Sequence[Format], *, is_named: bool
) -> GoldenFile | None:
    for source in sources:
        for form in formats:
            if container := _fitting_container(source, form, is_named=is_named):
                frame = _frame(source, form, container)
                return GoldenFile(source, format_within(form, frame), container, frame)
    return None


def _lists_cases(file: GoldenFile) -> bool:
    """Whether the items of the long list of a document are the cases of the format."""
    document, listed = file.source.document, file.source.listed
    if listed is None or not isinstance(document, dict):
        return file.container == "list"
    try:
        items = file.format.items(document) if file.container == "document" else None
    except FormatError:
        return False
    return listed.key is not None and items is document[listed.key]


def describe_input(path: Path, formats: Sequence[Format]) -> str | None:
    """What a file holds that a report must not replace: golden data or traces. `None` for a report
    and for any other file."""
    try:
        return f"golden data ({open_golden(path, formats).format.name})"
    except UnknownFormatError:
        return "traces" if _holds_traces(path) else None
    except CarobError:
        return None


def _holds_traces(path: Path) -> bool:
    try:
        return _is_trace(_samples(open_sources(path)[0])[0][1])
    except CarobError:  # such as a text, which is no table with columns of different names
        return False


def _fitting_container(source: Source, form: Format, *, is_named: bool) -> Container | None:
    """The container in which a format claims the file."""
    accepts = form.accepts if is_named and isinstance(form, NamedFormat) else form.claims
    fitting: list[Container] = [
        container
        for container, sample in _samples(source)
        if container in form.containers and (form.claims(sample) or accepts(sample))
    ]
    # A single row looks like a document. A document of the format has a list of cases.
    if len(fitting) > 1 and list_key(source.document, form.items_keys) is None:
        return fitting[-1]
    return fitting[0] if fitting else None


def _missing_column(source: Source, formats: Sequence[Format]) -> tuple[Format, str] | None:
    """The table format that would match if the file had one more column, and that column."""
    columns = dict.fromkeys(source.columns)
    folded = set(map(fold_name, columns))
    for form in formats if columns else ():
        if "table" not in form.containers:
            continue
        names = [field.encode_name for field in struct_info(form.shape).fields]
        if not folded & set(map(fold_name, names)):
            continue
        for name in names:
            if name not in columns and form.claims({**columns, name: None}):
                return form, name
    return None


def _suggest(source: Source, formats: Sequence[Format]) -> str:
    """What the file probably is, or how the formats are recognized."""
    if len(source.columns) == 1 and "|" in source.columns[0]:
        return "its columns are separated by '|', expected ','"
    if _is_trace(_samples(source)[0][1]):
        return (
            "this is a trace file: inspect it with `carob traces`, evaluate it with `carob run "
            "--golden`, or turn it into golden data with `carob capture`"
        )
    is_table = source.container == "table"
    fitting = [form for form in formats if not is_table or "table" in form.containers]
    if len(fitting) == 1:
        return f"{fitting[0].name} is recognized by: {fitting[0].recognized_by}"
    # Late, because only this error needs it.
    from carob.datasets.near_format import find_near_format

    if near := find_near_format(_samples(source), fitting):
        return near
    names = ", ".join(form.name for form in fitting)
    return f"name the fields of plain rows with --map input=NAME, or use one of: {names}"


def _is_trace(sample: Json) -> bool:
    # Late, because the readers of all containers are slow to import and only this error needs them.
    from carob.traces.containers.detect import read_items

    try:
        return next(read_items([sample], source=""), None) is not None
    except CarobError:
        return False


def get_format(name: str, formats: Sequence[Format]) -> Format:
    """The format `name`; raises `UsageError` with a suggestion if unknown."""
    base, has_mapping, mapping = name.partition(":")
    if has_mapping and base == "rows":
        from carob.datasets.formats.rows import mapped_rows  # late: few files need a mapping

        return mapped_rows(mapping)
    for form in formats:
        if form.name == name:
            return form
    names = [form.name for form in formats]
    hint = did_you_mean(name, names) or f"expected one of: {', '.join(names)}"
    raise UsageError(f"unknown format {name!r}", hint=hint)


def read_dataset(
    path: Path,
    formats: Sequence[Format],
    name: str | None = None,
    *,
    spooled: bool = False,
    progress: ProgressListener = ignore,
) -> Dataset:
    """Read the dataset in a file. With `spooled`, many cases are kept in a file, and decoded while
    they are iterated."""
    with collector_paused():
        return _read(open_golden(path, formats, name, progress=progress), spooled)


def _read(file: GoldenFile, spooled: bool) -> Dataset:
    path = file.source.path
    sidecar = read_sidecar(path) if file.container != "document" else Sidecar()
    header = file.format.header(file.container, file.source.stem)
    cases = _collect_cases(read_cases(file, sidecar), spooled)
    try:
        return header.get(file.frame, sidecar.dataset).with_cases(cases)
    except FormatError as error:
        raise FormatError(error.message, where=f"{path} {error.where}", hint=error.hint) from error


def _collect_cases(cases: Iterator[Case], spooled: bool) -> Sequence[Case]:
    if not spooled:
        return tuple(cases)
    spool = Spool(CASES)
    spool.extend(cases)
    return spool.finish()


def read_cases(file: GoldenFile, sidecar: Sidecar) -> Iterator[Case]:
    """Read the cases of an open file one by one."""
    lens = file.format.cases(file.container)
    used_ids: dict[str, int] = {}
    for index, row in enumerate(_items(file)):
        if row.error:
            raise row.error
        try:
            case = lens.get(row.value)
            if not (sidecar.cases or file.format.derives_ids):
                yield case
                continue
            key = make_unique(case.id, used_ids)
            if key in sidecar.cases:
                case = lens.get(row.value, sidecar.cases[key])
            # A derived id that repeats is numbered; one that the document preserves is not.
            if file.format.derives_ids and key != case.id == lens.get_bare(row.value).id:
                yield msgspec.structs.replace(case, id=key)
            else:
                yield case
        except FormatError as error:
            where = f"{file.source.path} {file.locate(index, row, error.where or '$')}"
            hint = error.hint or "run `carob validate` to list every problem in the file"
            raise FormatError(error.message, where=where, hint=hint) from error


def _items(file: GoldenFile) -> Iterator[Row]:
    """The items of a file; the error of a document without a list of cases names the file."""
    try:
        yield from file.items()
    except FormatError as error:
        where = f"{file.source.path} {error.where}"
        raise FormatError(error.message, where=where, hint=error.hint) from error


def _samples(source: Source) -> list[tuple[Container, Json]]:
    """What formats are detected from: the document, the first row, or a row with all columns."""
    document = source.document
    if isinstance(document, list):
        return [("document", document), ("list", document[0] if document else None)]
    if source.container == "document":
        # A JSON Lines file with a single row looks like a document.
        return [("document", document), ("rows", document)]
    if source.container == "table":
        return [("table", dict.fromkeys(source.columns))]
    first = next(source.rows(), None)
    return [("rows", first.value if first else None)]


def _describe_sample(source: Source) -> str:
    sample = _samples(source)[0][1]
    if isinstance(sample, list):
        sample = sample[0] if sample else None
    if not isinstance(sample, dict) or not sample:
        return "found no object with keys"
    noun = "columns" if source.container == "table" else "keys"
    found = f"found the {noun} {_name_keys(sample)}"
    # The cases of an unknown document are most likely in its only list of objects.
    firsts = {key: value[0] for key, value in sample.items() if isinstance(value, list) and value}
    lists = {key: first for key, first in firsts.items() if isinstance(first, dict) and first}
    if len(lists) == 1:
        ((key, first),) = lists.items()
        found += f", and in `{key[:40]}` {_name_keys(first)}"
    return found


def _name_keys(row: Mapping[str, Json]) -> str:
    return ", ".join(f"`{key[:40]}`" for key in list(row)[:12])


def _frame(source: Source, form: Format, container: Container) -> Json:
    if container == "table":
        dialect = cast("Json", msgspec.to_builtins(source.dialect))
        columns: Json = list[Json](source.columns)
        return {"columns": columns, FRAME_KEY: dialect} if dialect else {"columns": columns}
    if container == "list":
        return {LIST_KEY: "list"}
    if container == "rows" or not isinstance(source.document, dict):
        return {}
    return {
        key: [] if key in form.items_keys and isinstance(value, list) else value
        for key, value in source.document.items()
    }
