"""Between a document and a noun, without loss.

A format says how to read a noun from a document and how to write one. Neither need be complete:
what a document says beyond the noun (its *rest*: unknown fields, order, spelling) is found by
writing the noun again and comparing, and what a noun says beyond a document (what is *lost*) by
reading it again. Both are patches. Writing back to the format of its origin applies the rest;
writing to another format can carry both along, so that the way back is exact.
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
from carob.schema import Case, Dataset, Json, Origin

KEY = "carob"
"""The one reserved key under which a document carries what it has no place for."""

N = TypeVar("N", Case, Dataset)


class Carry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a document carries for the way back."""

    lost: Patch | None = None
    """What the noun says beyond the document."""
    rests: dict[str, Patch] = {}
    """By format: what an earlier document said beyond the noun."""
    unnamed: tuple[str, ...] = ()
    """The formats whose documents did not state the name."""


@dataclass(frozen=True, kw_only=True)
class Written:
    """A noun as a document, and what the document has no place for."""

    doc: Json
    carry: Carry
    lost: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Lens(Generic[N]):
    """One format's view of one noun."""

    key: str
    noun: type[N]
    read: Callable[[Json], N]
    write: Callable[[N], Json]
    open_at: tuple[str, ...] | None
    """Where a document has room for what is carried; `None` if it has none."""
    atomic: Atomic = nothing_atomic
    derived: Literal["id", "name"] | None = None
    """The field that documents do not state: an id follows from the case, a name from the file."""

    def get(self, doc: Json, aside: Carry | None = None) -> N:
        """The noun in a document; `aside` is what was carried in another place."""
        bare, carry = self._take_out(doc)
        noun = bare_noun = self.read(bare)
        carry = aside or carry or Carry()
        if carry.lost:
            noun = self._complete(noun, carry)
        origin = Origin(
            format=self.key,
            doc=doc,
            rests=cast("Object", carry.rests),
            unnamed=self._unnamed(noun, bare_noun, carry),
        )
        msgspec.structs.force_setattr(noun, "origin", origin)
        return noun

    def bare(self, doc: Json) -> N:
        """The noun in a document without what it carries."""
        return self.read(self._take_out(doc)[0])

    def put(self, noun: N, lenses: Mapping[str, Lens[N]]) -> Written:
        """The document for a noun: its own if nothing has changed, else one with all that fits."""
        origin = noun.origin
        if origin and origin.format == self.key and self._unchanged(noun, origin):
            return Written(doc=origin.doc, carry=Carry(), lost=())
        rests = self._rests(origin, lenses)
        doc = self.write(self.read(self.write(noun)))  # so that what we write has no rest
        doc = patch.apply(doc, rests.pop(self.key, None))
        back = self.read(doc)
        lost = patch.diff(_plain(back), _plain(self._without_derived(noun, back)))
        fields = list(patch.paths(lost))
        if origin and origin.format != self.key:
            fields += patch.paths(rests.get(origin.format), "$")
        unnamed = origin.unnamed if origin and self.derived != "name" else ()
        carry = Carry(lost=lost, rests=rests, unnamed=unnamed)
        return Written(doc=doc, carry=carry, lost=tuple(fields))

    def put_in(self, doc: Json, carry: Carry) -> Json:
        """The document with what it carries, in its open place."""
        if self.open_at is None or not isinstance(doc, dict) or carry == Carry():
            return doc
        return _with_member(doc, self.open_at, cast("Json", msgspec.to_builtins(carry)))

    def _take_out(self, doc: Json) -> tuple[Json, Carry | None]:
        if self.open_at is None or not isinstance(doc, dict):
            return doc, None
        found = _member(doc, self.open_at)
        if found is None:
            return doc, None
        return _without_member(doc, self.open_at), _carry(found, self.open_at)

    def _complete(self, noun: N, carry: Carry) -> N:
        try:
            return msgspec.convert(patch.apply(_plain(noun), carry.lost), self.noun)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(self.open_at or (KEY,)) from error

    def _unchanged(self, noun: N, origin: Origin) -> bool:
        return patch.same(_plain(self.get(origin.doc)), _plain(noun))

    def _rests(self, origin: Origin | None, lenses: Mapping[str, Lens[N]]) -> dict[str, Patch]:
        if origin is None:
            return {}
        rests = {key: cast("Patch", rest) for key, rest in origin.rests.items()}
        lens = lenses.get(origin.format)
        rest = lens.rest(origin.doc) if lens else None
        if rest:
            rests[origin.format] = rest
        return rests

    def _unnamed(self, noun: N, bare: N, carry: Carry) -> tuple[str, ...]:
        if self.derived != "name" or cast("Dataset", noun).name != cast("Dataset", bare).name:
            return carry.unnamed
        return (*carry.unnamed, self.key)

    def _without_derived(self, noun: N, back: N) -> N:
        """The noun with its id or name as derived here, if nobody ever stated another one."""
        if self.derived == "name" and noun.origin and noun.origin.unnamed:
            return msgspec.structs.replace(noun, name=cast("Dataset", back).name)
        if self.derived == "id":
            derived = cast("Case", back).id
            if re.fullmatch(rf"{re.escape(derived)}(-\d+)?", cast("Case", noun).id):
                return msgspec.structs.replace(noun, id=derived)
        return noun

    def rest(self, doc: Json) -> Patch | None:
        """What the document says beyond the noun."""
        bare, _ = self._take_out(doc)
        return patch.diff(self.write(self.read(bare)), bare, self.atomic)


def _plain(noun: Case | Dataset) -> Json:
    """The noun as JSON, without the document it came from."""
    bare = msgspec.structs.replace(noun, origin=None)
    return cast("Json", msgspec.json.decode(msgspec.json.encode(bare)))


def _carry(found: Json, place: tuple[str, ...]) -> Carry:
    try:
        return msgspec.convert(found, Carry)
    except msgspec.ValidationError as error:
        raise _damaged(place) from error


def _damaged(place: tuple[str, ...]) -> FormatError:
    return FormatError(
        "what was carried along for the way back is damaged",
        where="$." + ".".join(place),
        hint=f"delete the key {place[-1]!r} to read the rest without it",
    )


def _member(doc: Object, place: tuple[str, ...]) -> Json:
    found: Json = doc
    for key in place:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _with_member(doc: Object, place: tuple[str, ...], value: Json) -> Object:
    first, *rest = place
    if not rest:
        return {**doc, first: value}
    inner = doc.get(first)
    inner = inner if isinstance(inner, dict) else {}
    return {**doc, first: _with_member(inner, tuple(rest), value)}


def _without_member(doc: Object, place: tuple[str, ...]) -> Object:
    first, *rest = place
    inner = _without_member(cast("Object", doc[first]), tuple(rest)) if rest else {}
    return {
        key: inner if key == first else value for key, value in doc.items() if key != first or inner
    }


class OneWay(Lens[N]):
    """There is no way back, so nothing is kept for it: the noun must hold all that matters."""

    def rest(self, doc: Json) -> Patch | None:
        return None


def one_way(key: str, noun: type[N], read: Callable[[Json], N]) -> Lens[N]:
    """A lens that only reads."""
    return OneWay(key=key, noun=noun, read=read, write=lambda _: {}, open_at=None)
