"""Write a dataset as a golden file, atomically."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import msgspec

from carob.datasets.case_checks import find_refusal
from carob.datasets.dialect import FRAME_KEY
from carob.datasets.encode import (
    NOT_JSON,
    Documents,
    compress_parts,
    encode_document,
    encode_json,
    encode_list,
    encode_rows,
    encode_table,
    not_json_error,
)
from carob.datasets.formats import Format, format_of, format_within
from carob.datasets.lens import Lens, RoundTrip, WrittenDocument
from carob.datasets.patch import Object
from carob.datasets.read import get_format
from carob.datasets.sidecar import (
    Sidecar,
    encode_sidecar,
    has_sidecar,
    sidecar_path,
    write_with_sidecar,
)
from carob.datasets.source import LIST_KEY, Container
from carob.errors import FormatError, OutputError, UsageError
from carob.files.atomic import check_overwrite, is_stream
from carob.files.digest_table import collect_mapping
from carob.files.ids import unique_ids
from carob.files.spool import PickleCodec, Spool
from carob.files.yaml import write_yaml
from carob.schema import Case, Dataset, Json, Loss, Problem, SourceDocument
from carob.schema.base import prepare_type
from carob.schema.codec import BytesCodec, JsonCodec
from carob.schema.problem import ProgressListener, ignore

N = TypeVar("N", Case, Dataset)

YAML = (".yaml", ".yml")
EXCEL = (".xlsx", ".xlsm", ".xls")
PARQUET = ".parquet"
_CONTAINERS: Mapping[str, tuple[Container, ...]] = {
    ".json": ("document", "list"),
    **dict.fromkeys(YAML, ("document", "list")),
    ".jsonl": ("rows",),
    ".ndjson": ("rows",),
    ".csv": ("table",),
    ".tsv": ("table",),
}
_LOSSES = JsonCodec(Loss)
_SUFFIXES = {"document": ".json", "list": ".json", "rows": ".jsonl", "table": ".csv"}


class Destination(NamedTuple):
    """Where to write a dataset, and in which format and container."""

    path: Path
    format: Format
    container: Container

    @property
    def stem(self) -> str:
        return self.path.name.removesuffix(".gz").rsplit(".", 1)[0]

    @property
    def is_yaml(self) -> bool:
        return path_suffix(self.path) in YAML


class PreparedDataset(NamedTuple):
    """A dataset as documents that are not written yet."""

    destination: Destination
    header: WrittenDocument
    cases: Sequence[WrittenDocument]
    losses: Sequence[Loss]
    omitted: tuple[Loss, ...] = ()
    """The cases that the format cannot hold, and why. They are among the losses, too."""


def path_suffix(path: Path) -> str:
    """The suffix that states the kind of a file: `.json` for `faq.json.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def containers_for(path: Path) -> tuple[Container, ...]:
    """The containers that the suffix of a path stands for; none if it says nothing."""
    return _CONTAINERS.get(path_suffix(path), ())


def choose_destination(path: Path, form: Format, dataset: Dataset | None = None) -> Destination:
    """Use the container that the suffix of the path stands for; among several, the one that the
    dataset had before. Else that one, or the format's default."""
    if not form.writable:
        raise UsageError(f"cannot write the read-only format {form.name!r}")
    suffix = path_suffix(path)
    if suffix in EXCEL:
        raise UsageError(
            f"cannot write the Excel workbook {path.name!r}", hint=f"write {path.stem}.csv"
        )
    if suffix == PARQUET:
        raise UsageError(
            f"cannot write the Parquet file {path.name!r}", hint=f"write {path.stem}.jsonl"
        )
    stated: list[Container] = [name for name in containers_for(path) if name in form.containers]
    if suffix in YAML and not stated:
        hint = f"write {path.stem}{_SUFFIXES[form.containers[0]]}"
        raise UsageError(f"{form.name} cannot be written as YAML", hint=hint)
    known = _known_containers(form, dataset)
    both: list[Container] = [name for name in known if name in stated]
    return Destination(path, form, next(chain(both, stated, known, form.containers)))


def _known_containers(form: Format, dataset: Dataset | None) -> list[Container]:
    """The containers of this format from which the dataset was read, now or before conversions."""
    origin = dataset.origin if dataset else None
    if origin is None:
        return []
    keys = {origin.format, *origin.extras, *origin.unnamed}
    return [container for container in form.containers if form.header(container, "").key in keys]


def prepare_dataset(
    dataset: Dataset,
    destination: Destination,
    formats: Sequence[Format],
    progress: ProgressListener = ignore,
) -> PreparedDataset:
    """Convert a dataset to documents, and list the fields that have no equivalent in them.

    A case that the format cannot hold is left out: a document with a made-up expectation would
    score differently, and one without a required field would be refused when it is read.
    """
    form, container = destination.format, destination.container
    header_lens = form.header(container, destination.stem)
    formats = [*formats, *_mapped_formats(dataset, formats), form]
    lenses, dataset = _case_lenses(formats, dataset.origin), _restore_omitted(dataset, form)
    docs, losses = Spool(PickleCodec[WrittenDocument]()), Spool(_LOSSES)
    omitted: list[Loss] = []
    left_out: list[Json] = []
    try:
        header = header_lens.put(dataset.with_cases(()), _header_lenses(formats, dataset.name))
        losses.extend(_losses(None, header, form))
        destination = destination._replace(format=format_within(form, header.doc))
        lens = destination.format.cases(container)
        for index, case in enumerate(dataset.cases):
            progress(index, len(dataset.cases))
            written = lens.put(case, lenses)
            if refusal := _find_refusal(case, written.doc, destination):
                reason = f"left out, not valid in {form.name}: {refusal.message}"
                omitted.append(Loss(case=case.id, field="$", reason=reason))
                left_out.append({"index": index, "case": msgspec.to_builtins(case)})
                continue
            docs.append(written)
            losses.extend(_losses(case.id, written, form))
    except NOT_JSON as error:
        raise not_json_error(error) from error
    if left_out:
        preserved = msgspec.structs.replace(header.round_trip, omitted=tuple(left_out))
        header = replace(header, round_trip=preserved)
    losses.extend(omitted)
    return PreparedDataset(destination, header, docs.finish(), losses.finish(), tuple(omitted))


def _find_refusal(case: Case, doc: Json, destination: Destination) -> Problem | None:
    """Why the format would refuse a new document. One that came from it is written as it was."""
    form, origin = destination.format, case.origin
    if origin and form.name in {format_of(key) for key in (origin.format, *origin.extras)}:
        return None
    return find_refusal(form, destination.container, doc)


def _restore_omitted(dataset: Dataset, form: Format) -> Dataset:
    """The dataset with the cases that its format could not hold, in their places."""
    origin = dataset.origin
    if origin is None or not origin.omitted or format_of(origin.format) == form.name:
        return dataset
    cases = list(dataset.cases)
    try:
        for value in msgspec.convert(origin.omitted, prepare_type(tuple[_OmittedCase, ...])):
            cases.insert(value.index, msgspec.convert(value.case, prepare_type(Case)))
    except msgspec.ValidationError as error:
        message = f"invalid round-trip data: {error}"
        raise FormatError(message, hint="delete the key 'omitted' to convert without it") from error
    return dataset.with_cases(cases)


class _OmittedCase(msgspec.Struct):
    index: int
    case: Json


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
    if prepared.omitted and not prepared.cases:
        first = prepared.omitted[0]
        message = f"no case can be written: {first.reason.removeprefix('left out, ')}"
        raise OutputError(f"{message} (case {first.case!r})")
    destination = prepared.destination
    path, form, container = destination.path, destination.format, destination.container
    lens, header_lens = form.cases(container), form.header(container, destination.stem)
    frame, sidecar = prepared.header.doc, Sidecar()
    if carry:
        frame = header_lens.embed(frame, prepared.header.round_trip)
        sidecar = _build_sidecar(prepared, lens, header_lens)
        _check_sidecar_possible(path, sidecar)

    def documents() -> Iterator[Json]:
        for written in prepared.cases:
            yield lens.embed(written.doc, written.round_trip) if carry else written.doc

    parts = _encode(frame, documents, destination)
    # Encoded before anything is written: a value that cannot be must not leave half a file.
    spool = Spool(BytesCodec())
    spool.extend(compress_parts(parts) if path.suffix == ".gz" else parts)
    data = spool.finish()
    if not overwrite:
        check_overwrite(path, data, hint=hint)
        if path.exists() and has_sidecar(path):  # a sidecar file alone means nothing
            check_overwrite(sidecar_path(path), encode_sidecar(sidecar), hint=hint)
    write_with_sidecar(path, data, sidecar)


def _losses(case: str | None, written: WrittenDocument, form: Format) -> Iterable[Loss]:
    reason = f"no equivalent in {form.name}"
    # A delimiter or an encoding is preserved, but nobody misses it in another format.
    lost = (field for field in written.lost if field not in (f"$.{FRAME_KEY}", f"$.{LIST_KEY}"))
    return (Loss(case=case, field=field, reason=reason) for field in lost)


def _mapped_formats(dataset: Dataset, formats: Sequence[Format]) -> list[Format]:
    """The formats with a mapping from which the dataset was read, now or before conversions."""
    origin = dataset.origin
    keys = {origin.format, *origin.extras, *origin.unnamed} if origin else set[str]()
    names = {format_of(key) for key in keys if ":" in key}
    return [get_format(name, formats) for name in sorted(names)]


def _case_lenses(
    formats: Sequence[Format], origin: SourceDocument | None
) -> Mapping[str, Lens[Case]]:
    """The lenses of all formats by their keys; that of the source with the document around it."""
    pairs: list[tuple[Format, Container]] = [
        (form, container) for form in formats for container in form.containers
    ]
    lenses = [form.cases(container) for form, container in pairs]
    for form, container in pairs if origin else ():
        if origin and form.header(container, "").key == origin.format:
            lenses.append(format_within(form, origin.doc).cases(container))
    return {lens.key: lens for lens in lenses}


def _header_lenses(formats: Sequence[Format], name: str) -> Mapping[str, Lens[Dataset]]:
    """The lenses of all formats by their keys. A document that states no name has that of its file,
    and would get one on the way back if it were read under another name."""
    lenses = [form.header(container, name) for form in formats for container in form.containers]
    return {lens.key: lens for lens in lenses}


def _build_sidecar(
    prepared: PreparedDataset, lens: Lens[Case], header_lens: Lens[Dataset]
) -> Sidecar:
    """What the documents have no room for."""
    header = prepared.header.round_trip if header_lens.reserved_path is None else RoundTrip()
    cases: Mapping[str, RoundTrip] = {}
    if lens.reserved_path is None:
        # Keyed by the ids that reading the file will give, which may be derived and thus numbered.
        ids = unique_ids(lens.read(written.doc).id for written in prepared.cases)
        pairs = zip(ids, prepared.cases, strict=True)
        cases = collect_mapping(
            (key, case.round_trip) for key, case in pairs if case.round_trip != RoundTrip()
        )
    return Sidecar(dataset=header if header != RoundTrip() else None, cases=cases)


def _check_sidecar_possible(path: Path, sidecar: Sidecar) -> None:
    if not sidecar.is_empty and is_stream(path):
        raise OutputError(
            "cannot write a sidecar file next to a stream",
            where=str(path),
            hint="write to a file, or pass --drop",
        )


def _encode(frame: Json, documents: Documents, destination: Destination) -> Iterable[bytes]:
    if destination.is_yaml:
        return [_encode_yaml(frame, documents, destination)]
    match destination.container:
        case "table":
            return encode_table(frame, documents)
        case "rows":
            return encode_rows(documents)
        case "list":
            return encode_list(documents)
        case "document":
            return encode_document(frame, _items_key(frame, destination), documents)


def _encode_yaml(frame: Json, documents: Documents, destination: Destination) -> bytes:
    value: Json = [*documents()]
    if destination.container == "document":
        value = {**cast("Object", frame), _items_key(frame, destination): value}
    return write_yaml(msgspec.json.decode(encode_json(value)))


def _items_key(frame: Json, destination: Destination) -> str:
    document = cast("Object", frame)
    return next(key for key in destination.format.items_keys if key in document)
