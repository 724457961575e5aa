"""Lossless conversion between a document and a model (`Case` or `Dataset`).

A format defines how to read a model from a document and how to write one. Neither needs to be
complete. What a document states beyond the model (its *extra*: unknown fields, order, spelling) is
found by writing the model and comparing; what a model states beyond a document (the *lost* fields)
by reading the document back and comparing. Both are patches. Writing to the original format applies
the extra; writing to another format can preserve both, so that converting back is exact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

import msgspec

from carob.datasets import patch
from carob.datasets.patch import Atomic, Object, Patch, nothing_atomic
from carob.errors import FormatError
from carob.schema import Case, Dataset, Json, SourceDocument
from carob.schema.base import prepare_type

RESERVED_KEY = "carob"
"""The only key that Carob adds to documents: it preserves fields without an equivalent."""

N = TypeVar("N", Case, Dataset)


class RoundTrip(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a document preserves for round-tripping. Part of the file format."""

    lost: Patch | None = None
    """What the model states beyond the document."""
    extras: dict[str, Patch] = msgspec.field(default_factory=dict[str, Patch], name="rests")
    """By format: what an earlier document stated beyond the model."""
    unnamed: tuple[str, ...] = ()
    """The formats whose documents did not state the name."""
    omitted: tuple[Json, ...] = ()
    """The cases that the format cannot hold, each with its index in the dataset."""


@dataclass(frozen=True, kw_only=True)
class WrittenDocument:
    """A model as a document, and the fields that have no equivalent in it."""

    doc: Json
    round_trip: RoundTrip
    lost: tuple[str, ...]


def _keep_all(model: N, _doc: Json) -> N:
    return model


@dataclass(frozen=True, kw_only=True)
class Lens(Generic[N]):
    """How one format reads and writes one model."""

    key: str
    model: type[N]
    read: Callable[[Json], N]
    write: Callable[[N], Json]
    reserved_path: tuple[str, ...] | None
    """Where a document preserves data for round-tripping; `None` if it has no room."""
    atomic: Atomic = nothing_atomic
    derived: Literal["id", "name"] | None = None
    """The field that documents do not state: an id follows from the case, a name from the file."""
    name_key: str | None = None
    """Where a document may state the name that is derived otherwise."""
    without_defaults: Callable[[N, Json], N] = _keep_all
    """Removes what reading a document adds to the model, so that no other format has to hold it."""

    def get(self, doc: Json, preserved: RoundTrip | None = None) -> N:
        """The model in a document; `preserved` comes from a sidecar file."""
        bare, embedded = self._split(doc)
        model = bare_model = self.read(bare)
        round_trip = preserved or embedded or RoundTrip()
        if round_trip.lost:
            model = self._restore(model, round_trip)
        origin = SourceDocument(
            format=self.key,
            doc=doc,
            extras=cast("Object", round_trip.extras),
            unnamed=round_trip.unnamed
            if self._states_name(bare)
            else self._formats_without_name(model, bare_model, round_trip),
            omitted=round_trip.omitted,
        )
        # Models are frozen, and this one is not shared yet, so it does not have to be copied.
        msgspec.structs.force_setattr(model, "origin", origin)
        return model

    def get_bare(self, doc: Json) -> N:
        """The model in a document without the preserved fields."""
        return self.read(self._split(doc)[0])

    def put(self, model: N, lenses: Mapping[str, Lens[N]]) -> WrittenDocument:
        """The document for a model: its source document if unchanged, else a new one."""
        origin = model.origin
        if origin and origin.format == self.key and self._is_unchanged(model, origin):
            return WrittenDocument(doc=origin.doc, round_trip=RoundTrip(), lost=())
        if origin and origin.format in lenses:
            model = lenses[origin.format].without_defaults(model, origin.doc)
        extras = self._collect_extras(origin, lenses)
        # Write, read and write again: a document of ours must not have an extra of its own.
        doc = self.write(self._read_stated(self.write(model)))
        # What the model has at the reserved path is preserved there: read again as it is, it would
        # be taken for what was preserved.
        doc = self._without_reserved(patch.apply(doc, extras.pop(self.key, None)))
        read_back = self._read_stated(doc)
        # Compared after the extra was applied: it may state what the format alone would lose.
        lost = patch.diff(_plain(read_back), _plain(self._without_derived(model, read_back)))
        fields = list(patch.paths(lost))
        if origin and origin.format != self.key:
            fields += patch.paths(extras.get(origin.format), "$")
        unnamed = origin.unnamed if origin and self._states_name(doc) else ()
        unnamed = tuple(key for key in unnamed if key != self.key)  # it has a name by now
        round_trip = RoundTrip(lost=lost, extras=extras, unnamed=unnamed)
        return WrittenDocument(doc=doc, round_trip=round_trip, lost=tuple(fields))

    def _read_stated(self, doc: Json) -> N:
        """The model of a document, without the defaults of what the document does not state."""
        return self.without_defaults(self.read(doc), doc)

    def embed(self, doc: Json, round_trip: RoundTrip) -> Json:
        """The document with the preserved fields at its reserved path."""
        if self.reserved_path is None or not isinstance(doc, dict) or round_trip == RoundTrip():
            return doc
        return _with_member(doc, self.reserved_path, cast("Json", msgspec.to_builtins(round_trip)))

    def find_extra(self, doc: Json) -> Patch | None:
        """What the document states beyond the model."""
        bare, _ = self._split(doc)
        return patch.diff(self.write(self._read_stated(bare)), bare, self.atomic)

    def _split(self, doc: Json) -> tuple[Json, RoundTrip | None]:
        """The document without its reserved member, and that member."""
        if self.reserved_path is None or not isinstance(doc, dict):
            return doc, None
        value = _member(doc, self.reserved_path)
        if value is None:
            return doc, None
        return _without_member(doc, self.reserved_path), _parse(value, self.reserved_path)

    def _without_reserved(self, doc: Json) -> Json:
        if self.reserved_path is None or not isinstance(doc, dict):
            return doc
        *parents, key = self.reserved_path
        owner = _member(doc, tuple(parents))
        has_it = isinstance(owner, dict) and key in owner
        return _without_member(doc, self.reserved_path) if has_it else doc

    def _restore(self, model: N, round_trip: RoundTrip) -> N:
        try:
            return msgspec.convert(
                patch.apply(_plain(model), round_trip.lost), prepare_type(self.model)
            )
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise _invalid(self.reserved_path or (RESERVED_KEY,)) from error

    def _is_unchanged(self, model: N, origin: SourceDocument) -> bool:
        return patch.same(_plain(self.get(origin.doc)), _plain(model))

    def _collect_extras(
        self, origin: SourceDocument | None, lenses: Mapping[str, Lens[N]]
    ) -> dict[str, Patch]:
        if origin is None:
            return {}
        extras = {key: cast("Patch", extra) for key, extra in origin.extras.items()}
        lens = lenses.get(origin.format)
        extra = lens.find_extra(origin.doc) if lens else None
        if extra:
            extras[origin.format] = extra
        return extras

    def _states_name(self, doc: Json) -> bool:
        if self.derived != "name":
            return True
        return isinstance(doc, dict) and self.name_key is not None and self.name_key in doc

    def _formats_without_name(self, model: N, bare: N, round_trip: RoundTrip) -> tuple[str, ...]:
        if cast("Dataset", model).name != cast("Dataset", bare).name:
            return round_trip.unnamed
        return (*round_trip.unnamed, self.key)

    def _without_derived(self, model: N, read_back: N) -> N:
        """The model with the id or name that this format derives, unless another was stated."""
        if self.derived == "name" and model.origin and model.origin.unnamed:
            return msgspec.structs.replace(model, name=cast("Dataset", read_back).name)
        if self.derived == "id":
            derived = cast("Case", read_back).id
            if re.fullmatch(rf"{re.escape(derived)}(-\d+)?", cast("Case", model).id):
                return msgspec.structs.replace(model, id=derived)
        return model


class ReadOnlyLens(Lens[N]):
    """There is nothing to write back to, so no extra is computed."""

    def find_extra(self, doc: Json) -> Patch | None:
        return None


def read_only_lens(key: str, model: type[N], read: Callable[[Json], N]) -> Lens[N]:
    """A lens of a format that is only read."""
    return ReadOnlyLens(key=key, model=model, read=read, write=lambda _: {}, reserved_path=None)


def unnamed_header(key: str, stem: str, frame: Object | None = None) -> Lens[Dataset]:
    """The lens of a header in a file of rows, which states nothing about the dataset."""
    return Lens(
        key=key,
        model=Dataset,
        read=lambda _: Dataset(name=stem),
        write=lambda _: frame or {},
        reserved_path=None,
        derived="name",
    )


def _plain(model: Case | Dataset) -> Json:
    """The model as JSON, without its source document."""
    bare = msgspec.structs.replace(model, origin=None)
    return cast("Json", msgspec.json.decode(msgspec.json.encode(bare)))


def _parse(value: Json, path: tuple[str, ...]) -> RoundTrip:
    try:
        return msgspec.convert(value, prepare_type(RoundTrip))
    except msgspec.ValidationError as error:
        raise _invalid(path) from error


def _invalid(path: tuple[str, ...]) -> FormatError:
    return FormatError(
        "invalid round-trip data",
        where="$." + ".".join(path),
        hint=f"delete the key {path[-1]!r} to read the rest without it",
    )


def _member(doc: Object, path: tuple[str, ...]) -> Json:
    value: Json = doc
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _with_member(doc: Object, path: tuple[str, ...], value: Json) -> Object:
    first, *rest = path
    if not rest:
        return {**doc, first: value}
    inner = doc.get(first)
    inner = inner if isinstance(inner, dict) else {}
    return {**doc, first: _with_member(inner, tuple(rest), value)}


def _without_member(doc: Object, path: tuple[str, ...]) -> Object:
    first, *rest = path
    inner = _without_member(cast("Object", doc[first]), tuple(rest)) if rest else {}
    return {
        key: inner if key == first else value for key, value in doc.items() if key != first or inner
    }
