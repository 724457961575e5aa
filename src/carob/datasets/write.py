"""From a dataset to a golden file, which is there completely or not at all."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import msgspec

from carob.datasets.formats import Format
from carob.datasets.lens import Carry, Lens, Written
from carob.datasets.patch import Object
from carob.datasets.read import unique_ids
from carob.datasets.sidecar import Aside, aside_path
from carob.datasets.source import Container
from carob.errors import OutputError, UsageError
from carob.files.atomic import is_stream, replace
from carob.schema import Case, Dataset, Json, Loss

N = TypeVar("N", Case, Dataset)

_NOT_JSON = (UnicodeEncodeError, RecursionError, TypeError, msgspec.MsgspecError)


class Target(NamedTuple):
    """Where and how a dataset is to be written."""

    path: Path
    format: Format
    container: Container

    @property
    def stem(self) -> str:
        return self.path.name.removesuffix(".gz").rsplit(".", 1)[0]


class Prepared(NamedTuple):
    """A dataset as documents, not written yet."""

    target: Target
    header: Written
    cases: list[Written]
    losses: tuple[Loss, ...]


def target(path: Path, form: Format) -> Target:
    """The container of a format that the ending of the path asks for, else its usual one."""
    if not form.writable:
        raise UsageError(f"the format {form.name!r} is for reading only")
    name = path.name.removesuffix(".gz").lower()
    if name.endswith(".jsonl") and "rows" in form.containers:
        return Target(path, form, "rows")
    return Target(path, form, form.containers[0])


def prepare(dataset: Dataset, to: Target, formats: Sequence[Format]) -> Prepared:
    """Make the documents, and find out what they have no place for."""
    lens = to.format.cases(to.container)
    lenses = _case_lenses(formats)
    header_lens = to.format.header(to.container, to.stem)
    try:
        cases = [lens.put(case, lenses) for case in dataset.cases]
        header = header_lens.put(dataset.with_cases(()), _header_lenses(formats))
    except _NOT_JSON as error:
        raise OutputError(f"a value that JSON cannot hold: {error}") from error
    losses = list(_losses(None, header, to.format))
    for case, written in zip(dataset.cases, cases, strict=True):
        losses.extend(_losses(case.id, written, to.format))
    return Prepared(to, header, cases, tuple(losses))


def write(prepared: Prepared, *, carry: bool = True) -> None:
    """Write the documents; with `carry`, also what they have no place for."""
    to = prepared.target
    lens = to.format.cases(to.container)
    frame, docs = prepared.header.doc, [written.doc for written in prepared.cases]
    side: Aside | None = None
    if carry and lens.open_at is None:
        side = _aside(prepared, lens)
        _check_beside(to.path, side)
    elif carry:
        docs = [lens.put_in(written.doc, written.carry) for written in prepared.cases]
        frame = to.format.header(to.container, to.stem).put_in(frame, prepared.header.carry)
    data = _ENCODERS[to.container](frame, docs, to.format)
    replace(to.path, gzip.compress(data, mtime=0) if to.path.suffix == ".gz" else data)
    _write_aside(to.path, side)


def _losses(case: str | None, written: Written, form: Format) -> Iterable[Loss]:
    reason = f"{form.name} has no place for it"
    return (Loss(case=case, field=field, reason=reason) for field in written.lost)


def _case_lenses(formats: Sequence[Format]) -> Mapping[str, Lens[Case]]:
    lenses = [form.cases(container) for form in formats for container in form.containers]
    return {lens.key: lens for lens in lenses}


def _header_lenses(formats: Sequence[Format]) -> Mapping[str, Lens[Dataset]]:
    lenses = [form.header(container, "") for form in formats for container in form.containers]
    return {lens.key: lens for lens in lenses}


def _aside(prepared: Prepared, lens: Lens[Case]) -> Aside:
    bare = [lens.read(written.doc).id for written in prepared.cases]
    pairs = zip(unique_ids(bare), prepared.cases, strict=True)
    header = prepared.header.carry
    return Aside(
        dataset=header if header != Carry() else None,
        cases={key: written.carry for key, written in pairs if written.carry != Carry()},
    )


def _check_beside(path: Path, side: Aside) -> None:
    if side != Aside() and is_stream(path):
        message = "no file, so there is no place beside it for what is carried along"
        raise OutputError(message, where=str(path), hint="write to a file, or use `--drop`")


def _write_aside(path: Path, side: Aside | None) -> None:
    if is_stream(path):
        return
    if side and side != Aside():
        replace(aside_path(path), msgspec.json.format(_encoded(side), indent=2) + b"\n")
    else:
        aside_path(path).unlink(missing_ok=True)


def _encoded(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except _NOT_JSON as error:
        raise OutputError(f"a value that JSON cannot hold: {error}") from error


def _encode_document(frame: Json, docs: list[Json], form: Format) -> bytes:
    document = cast("Object", frame)
    key = next(key for key in form.items_keys if key in document)
    return msgspec.json.format(_encoded({**document, key: docs}), indent=2) + b"\n"


def _encode_rows(_frame: Json, docs: list[Json], _form: Format) -> bytes:
    if not docs:
        raise OutputError("a file of rows needs at least one case, the dataset has none")
    return b"".join(_encoded(doc) + b"\n" for doc in docs)


def _encode_table(frame: Json, docs: list[Json], _form: Format) -> bytes:
    rows = cast("list[dict[str, str]]", docs)
    columns = dict.fromkeys(cast("list[str]", cast("Object", frame)["columns"]))
    for row in rows:
        columns |= dict.fromkeys(row)
    lines = [list(columns), *([row.get(name, "") for name in columns] for row in rows)]
    return "".join(",".join(map(_cell, line)) + "\n" for line in lines).encode()


def _cell(text: str) -> str:
    """Python's own writer leaves a lone carriage return bare, and no reader takes that."""
    if text and not _SPECIAL.search(text):
        return text
    return '"' + text.replace('"', '""') + '"' if text else ""


_SPECIAL = re.compile(r'[",\r\n]')

_ENCODERS = {"document": _encode_document, "rows": _encode_rows, "table": _encode_table}
