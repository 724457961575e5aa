"""Write a dataset as a golden file, atomically."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import msgspec

from carob.datasets.dialect import FRAME_KEY, read_dialect
from carob.datasets.formats import Format
from carob.datasets.ids import unique_ids
from carob.datasets.lens import Lens, RoundTrip, WrittenDocument
from carob.datasets.patch import Object
from carob.datasets.sidecar import (
    Sidecar,
    encode_sidecar,
    has_sidecar,
    sidecar_path,
    write_with_sidecar,
)
from carob.datasets.source import Container
from carob.errors import OutputError, UsageError
from carob.files.atomic import check_overwrite, is_stream
from carob.schema import Case, Dataset, Json, Loss
from carob.text.spelling import fold_name

N = TypeVar("N", Case, Dataset)

_NOT_JSON = (UnicodeEncodeError, RecursionError, TypeError, msgspec.MsgspecError)


class Destination(NamedTuple):
    """Where to write a dataset, and in which format and container."""

    path: Path
    format: Format
    container: Container

    @property
    def stem(self) -> str:
        return self.path.name.removesuffix(".gz").rsplit(".", 1)[0]


class PreparedDataset(NamedTuple):
    """A dataset as documents that are not written yet."""

    destination: Destination
    header: WrittenDocument
    cases: list[WrittenDocument]
    losses: tuple[Loss, ...]


def choose_destination(path: Path, form: Format) -> Destination:
    """Use the container that the suffix of the path stands for, or the format's default."""
    if not form.writable:
        raise UsageError(f"cannot write the read-only format {form.name!r}")
    name = path.name.removesuffix(".gz").lower()
    if name.endswith(".jsonl") and "rows" in form.containers:
        return Destination(path, form, "rows")
    return Destination(path, form, form.containers[0])


def prepare_dataset(
    dataset: Dataset, destination: Destination, formats: Sequence[Format]
) -> PreparedDataset:
    """Convert a dataset to documents, and list the fields that have no equivalent in them."""
    form, container = destination.format, destination.container
    lens, header_lens = form.cases(container), form.header(container, destination.stem)
    lenses = _case_lenses(formats)
    try:
        cases = [lens.put(case, lenses) for case in dataset.cases]
        header = header_lens.put(dataset.with_cases(()), _header_lenses(formats))
    except _NOT_JSON as error:
        raise _not_json(error) from error
    losses = list(_losses(None, header, form))
    for case, written in zip(dataset.cases, cases, strict=True):
        losses.extend(_losses(case.id, written, form))
    return PreparedDataset(destination, header, cases, tuple(losses))


def write_dataset(
    prepared: PreparedDataset,
    *,
    carry: bool = True,
    overwrite: bool = True,
    hint: str = "pass --force to overwrite",
) -> None:
    """Write the documents; with `carry`, preserve the fields that have no equivalent in them.

    They are preserved inside the documents if the format has room, else in a sidecar file. Without
    `overwrite`, raises `UsageError` with the hint if a file exists and differs.
    """
    destination = prepared.destination
    path, form, container = destination.path, destination.format, destination.container
    lens = form.cases(container)
    frame, docs = prepared.header.doc, [written.doc for written in prepared.cases]
    sidecar: Sidecar | None = None
    if carry and lens.reserved_path is None:
        sidecar = _build_sidecar(prepared, lens)
        _check_sidecar_possible(path, sidecar)
    elif carry:
        docs = [lens.embed(written.doc, written.round_trip) for written in prepared.cases]
        header_lens = form.header(container, destination.stem)
        frame = header_lens.embed(frame, prepared.header.round_trip)
    data = _ENCODERS[container](frame, docs, form)
    data = gzip.compress(data, mtime=0) if path.suffix == ".gz" else data
    sidecar = sidecar or Sidecar()
    try:
        preserved = encode_sidecar(sidecar)
    except _NOT_JSON as error:
        raise _not_json(error) from error
    if not overwrite:
        check_overwrite(path, data, hint=hint)
        if path.exists() and has_sidecar(path):  # a sidecar file alone means nothing
            check_overwrite(sidecar_path(path), preserved, hint=hint)
    write_with_sidecar(path, data, sidecar)


def _losses(case: str | None, written: WrittenDocument, form: Format) -> Iterable[Loss]:
    reason = f"no equivalent in {form.name}"
    # A delimiter or an encoding is preserved, but nobody misses it in another format.
    lost = (field for field in written.lost if field != f"$.{FRAME_KEY}")
    return (Loss(case=case, field=field, reason=reason) for field in lost)


def _case_lenses(formats: Sequence[Format]) -> Mapping[str, Lens[Case]]:
    lenses = [form.cases(container) for form in formats for container in form.containers]
    return {lens.key: lens for lens in lenses}


def _header_lenses(formats: Sequence[Format]) -> Mapping[str, Lens[Dataset]]:
    lenses = [form.header(container, "") for form in formats for container in form.containers]
    return {lens.key: lens for lens in lenses}


def _build_sidecar(prepared: PreparedDataset, lens: Lens[Case]) -> Sidecar:
    # Keyed by the ids that reading the file will give, which may be derived and thus numbered.
    ids = unique_ids(lens.read(written.doc).id for written in prepared.cases)
    pairs = zip(ids, prepared.cases, strict=True)
    header = prepared.header.round_trip
    return Sidecar(
        dataset=header if header != RoundTrip() else None,
        cases={key: case.round_trip for key, case in pairs if case.round_trip != RoundTrip()},
    )


def _check_sidecar_possible(path: Path, sidecar: Sidecar) -> None:
    if sidecar != Sidecar() and is_stream(path):
        raise OutputError(
            "cannot write a sidecar file next to a stream",
            where=str(path),
            hint="write to a file, or pass --drop",
        )


def _encode(value: object) -> bytes:
    try:
        return msgspec.json.encode(value)
    except _NOT_JSON as error:
        raise _not_json(error) from error


def _not_json(error: Exception) -> OutputError:
    return OutputError(f"cannot write a value as JSON: {error}")


def _encode_document(frame: Json, docs: list[Json], form: Format) -> bytes:
    document = cast("Object", frame)
    key = next(key for key in form.items_keys if key in document)
    return msgspec.json.format(_encode({**document, key: docs}), indent=2) + b"\n"


def _encode_rows(_frame: Json, docs: list[Json], _form: Format) -> bytes:
    if not docs:
        raise OutputError("cannot write an empty dataset as rows")
    return b"".join(_encode(doc) + b"\n" for doc in docs)


def _encode_table(frame: Json, docs: list[Json], _form: Format) -> bytes:
    columns = dict.fromkeys(cast("list[str]", cast("Object", frame)["columns"]))
    rows = [_use_columns(row, columns) for row in cast("list[dict[str, str]]", docs)]
    for row in rows:
        columns |= dict.fromkeys(row)
    dialect = read_dialect(frame)
    lines = [list(columns), *([row.get(name, "") for name in columns] for row in rows)]
    records = (dialect.delimiter.join(map(dialect.quote, line)) + dialect.newline for line in lines)
    return dialect.encode("".join(records))


def _use_columns(row: dict[str, str], columns: Mapping[str, None]) -> dict[str, str]:
    """The row with its cells under the columns of the file: a new case states `Input` even if the
    file calls that column `input`."""
    if row.keys() <= columns.keys():
        return row
    by_folded_name = {fold_name(name): name for name in columns}
    renamed = {key: by_folded_name.get(fold_name(key), key) for key in row}
    return {renamed[key] if renamed[key] not in row else key: cell for key, cell in row.items()}


_ENCODERS = {"document": _encode_document, "rows": _encode_rows, "table": _encode_table}
