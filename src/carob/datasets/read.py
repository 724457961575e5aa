"""From a golden file to a dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.datasets import locate
from carob.datasets.formats import Format, list_key
from carob.datasets.sidecar import Aside, read_aside
from carob.datasets.source import Container, Row, Source, open_source
from carob.errors import CarobError, FormatError, UnknownFormatError, UsageError
from carob.files.collector import collector_paused
from carob.schema import Case, Dataset, Json
from carob.text.spelling import meant


class Opened(NamedTuple):
    """A golden file whose format is known."""

    source: Source
    format: Format
    container: Container
    frame: Json
    """The document without its cases."""

    def items(self) -> Iterator[Row]:
        """The cases as they are in the file; only rows know their lines."""
        if self.container == "document":
            yield from (Row(0, item) for item in self.format.items(self.source.document))
        elif self.source.container == "document":
            yield Row(1, self.source.document)
        else:
            yield from self.source.rows()

    def place(self, index: int, row: Row, path: str = "$") -> str:
        """Where something is in the file: `line 7 $.reference_data`."""
        if self.container != "document":
            return f"line {row.line} {path}"
        whole = self.member(index, row) + path.removeprefix("$")
        line = locate.lines(self.source.data, [whole]).get(whole)
        return f"line {line} {whole}" if line else whole

    def member(self, index: int, row: Row) -> str:
        """The path of a case in its document, which may be one case as a whole."""
        if row.value is self.source.document:
            return "$"
        key = list_key(self.source.document, self.format.items_keys)
        return f"$.{key}[{index}]" if key else f"$[{index}]"


def open_golden(path: Path, formats: Sequence[Format], name: str | None = None) -> Opened:
    """Open a file and find its format by its content, or take the one that is named."""
    source = open_source(path)
    if name is not None:
        formats = [named(name, formats)]
    samples = _samples(source)
    for form in formats:
        for container, sample in samples:
            if container in form.containers and form.claims(sample):
                return Opened(source, form, container, _frame(source, form, container))
    raise UnknownFormatError(
        f"no golden format claims this {_KINDS[source.container]}",
        where=str(path),
        hint=f"{_seen(source)}; {_instead(source, formats)}",
    )


def _instead(source: Source, formats: Sequence[Format]) -> str:
    """What would have been golden data; or what this is."""
    mark = next((mark for mark in ";\t|" if mark in "".join(source.columns[:1])), None)
    if mark and len(source.columns) == 1:
        return f"its columns are separated by {mark!r}, expected ','"
    if _is_recording(_samples(source)[0][1]):
        return (
            "these are recordings: `carob traces` shows them, `carob run` takes them beside "
            "--golden, `carob capture` makes golden data of them"
        )
    looked = "\n".join(f"  {form.name}: {form.sought}" for form in formats)
    return f"a file is recognised by\n{looked}"


def _is_recording(sample: Json) -> bool:
    detect = import_module("carob.traces.containers.detect")  # late: only errors need it
    try:
        return next(detect.read_items([sample], source=""), None) is not None
    except CarobError:
        return False


def named(name: str, formats: Sequence[Format]) -> Format:
    """The format of that name."""
    for form in formats:
        if form.name == name:
            return form
    known = [form.name for form in formats]
    hint = meant(name, known) or f"the formats are {', '.join(known)}"
    raise UsageError(f"no format {name!r}", hint=hint)


def read(path: Path, formats: Sequence[Format], name: str | None = None) -> Dataset:
    """The dataset in a file."""
    with collector_paused():
        return _read(open_golden(path, formats, name))


def _read(opened: Opened) -> Dataset:
    path = opened.source.path
    aside = read_aside(path) if opened.container != "document" else Aside()
    header = opened.format.header(opened.container, opened.source.stem)
    cases = tuple(read_cases(opened, aside))
    try:
        return header.get(opened.frame, aside.dataset).with_cases(cases)
    except FormatError as error:
        raise FormatError(error.message, where=f"{path} {error.where}", hint=error.hint) from error


def read_cases(opened: Opened, aside: Aside) -> Iterator[Case]:
    """The cases of an open file, one by one."""
    lens = opened.format.cases(opened.container)
    seen: set[str] = set()
    for index, row in enumerate(_located(opened)):
        if row.error:
            raise row.error
        try:
            case = lens.get(row.value)
            key = _unique(case.id, seen)
            if key in aside.cases:
                yield lens.get(row.value, aside.cases[key])
            elif opened.format.derives_ids and key != case.id == lens.bare(row.value).id:
                yield msgspec.structs.replace(case, id=key)
            else:
                yield case
        except FormatError as error:
            where = f"{opened.source.path} {opened.place(index, row, error.where or '$')}"
            hint = error.hint or "`carob validate` names every problem of the file"
            raise FormatError(error.message, where=where, hint=hint) from error


def _located(opened: Opened) -> Iterator[Row]:
    """The items; a document without a list of them is an error that names the file."""
    try:
        yield from opened.items()
    except FormatError as error:
        where = f"{opened.source.path} {error.where}"
        raise FormatError(error.message, where=where, hint=error.hint) from error


def unique_ids(ids: Iterable[str]) -> Iterator[str]:
    """The ids that cases without ids of their own get: the second of two equal ones is numbered."""
    seen: set[str] = set()
    for name in ids:
        yield _unique(name, seen)


def _unique(name: str, seen: set[str]) -> str:
    unique, number = name, 1
    while unique in seen:
        number += 1
        unique = f"{name}-{number}"
    seen.add(unique)
    return unique


_KINDS = {"document": "JSON document", "rows": "file of JSON rows", "table": "table"}


def _samples(source: Source) -> list[tuple[Container, Json]]:
    """What formats look at: the document, the first row, or a row with all columns."""
    if source.container == "document":
        return [("document", source.document), ("rows", source.document)]
    if source.container == "table":
        return [("table", dict.fromkeys(source.columns))]
    first = next(source.rows(), None)
    return [("rows", first.value if first else None)]


def _seen(source: Source) -> str:
    sample = _samples(source)[0][1]
    if isinstance(sample, list):
        sample = sample[0] if sample else None
    if isinstance(sample, dict) and sample:
        keys = ", ".join(f"`{key[:40]}`" for key in list(sample)[:12])
        return f"seen: {keys}"
    return "seen: no object with keys"


def _frame(source: Source, form: Format, container: Container) -> Json:
    if container == "table":
        return {"columns": list[Json](source.columns)}
    if container == "rows" or not isinstance(source.document, dict):
        return {}
    return {
        key: [] if key in form.items_keys and isinstance(value, list) else value
        for key, value in source.document.items()
    }
