"""Patches between JSON documents that can be stored in a file.

A patch is guarded: it stores a digest of each value that it replaces, so that it leaves values
alone that were edited since. Numbers of different types (`1`, `1.0`, `true`) and objects with
another order of keys are different documents.

An object's patch has `rename` (a key under another spelling), `drop`, `set`, `at` (patches of
members) and `order`; an array's has `was` (digests of the elements), `at`, `more` and `cut`; any
other value is replaced: `=`, guarded by `was`. These names are part of the file format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import TypeAlias, cast

import msgspec

from carob.schema import Json
from carob.text.spelling import fold_name

Object: TypeAlias = dict[str, Json]
Patch: TypeAlias = dict[str, Json]
Atomic: TypeAlias = Callable[[str, Json], bool]
"""Whether the member of an object with this key is replaced as a whole or not at all."""

_encode = msgspec.json.Encoder().encode
_canonical = msgspec.json.Encoder(order="deterministic").encode


def same(old: Json, new: Json) -> bool:
    """Whether two documents are equal, including the types of numbers and the order of keys."""
    # Python's `==` would not do: `1 == 1.0 == True`, and dictionaries ignore the order of keys.
    return _encode(old) == _encode(new)


def nothing_atomic(_key: str, _value: Json) -> bool:
    return False


def diff(old: Json, new: Json, atomic: Atomic = nothing_atomic) -> Patch | None:
    """The patch that turns `old` into `new`; `None` if they are equal."""
    if same(old, new):
        return None
    if isinstance(old, dict) and isinstance(new, dict):
        return _diff_objects(old, new, atomic)
    if isinstance(old, list) and isinstance(new, list):
        return _diff_arrays(old, new, atomic)
    return _replacement(old, new)


def apply(doc: Json, patch: Patch | None) -> Json:
    """A copy of `doc` with the patch applied wherever its guards match."""
    if patch is None:
        return doc
    if "=" in patch:
        return patch["="] if _digest(doc) == patch["was"] else doc
    if isinstance(doc, list) and "was" in patch:
        return _apply_array(doc, patch)
    if isinstance(doc, dict) and "was" not in patch:
        return _apply_object(doc, patch)
    return doc


def paths(patch: Patch | None, base: str = "") -> Iterator[str]:
    """The paths at which the patched document has more or other values."""
    if patch is None:
        return
    if "=" in patch:
        yield base
    for key in _object(patch, "set"):
        yield _member(base, key)
    for key, inner in _object(patch, "at").items():
        name = f"{base}[{key}]" if "was" in patch else _member(base, key)
        yield from paths(cast("Patch", inner), name)
    more = patch.get("more")
    if isinstance(more, list):
        length = len(cast("list[Json]", patch["was"]))
        yield from (f"{base}[{length + index}]" for index in range(len(more)))


def _member(base: str, key: str) -> str:
    return f"{base}.{key}" if base else key


def _object(patch: Patch, key: str) -> Object:
    return cast("Object", patch.get(key) or {})


def _digest(value: Json) -> str:
    return blake2b(_canonical(value), digest_size=5).hexdigest()


def _replacement(old: Json, new: Json) -> Patch:
    return {"=": new, "was": _digest(old)}


def _diff_objects(old: Object, new: Object, atomic: Atomic) -> Patch:
    patch: Patch = {}
    rename = _find_renames(old, new)
    if rename:
        patch["rename"] = cast("Object", rename)
        old = {rename.get(key, key): value for key, value in old.items()}
    # A dropped value is guarded as well: if it was edited since, dropping it would lose the edit.
    drop: Object = {key: _digest(value) for key, value in old.items() if key not in new}
    added: Object = {key: value for key, value in new.items() if key not in old}
    at = {key: _diff_member(key, old[key], new[key], atomic) for key in old if key in new}
    changed: Object = {key: inner for key, inner in at.items() if inner is not None}
    patch |= {
        name: part for name, part in (("drop", drop), ("set", added), ("at", changed)) if part
    }
    natural = [key for key in old if key in new] + list(added)
    if natural != list(new):
        patch["order"] = list[Json](new)
    return patch


def _diff_member(key: str, old: Json, new: Json, atomic: Atomic) -> Patch | None:
    if atomic(key, new) and not same(old, new):
        return _replacement(old, new)
    return diff(old, new, atomic)


def _find_renames(old: Object, new: Object) -> dict[str, str]:
    """Keys that changed only in spelling, such as `user_content` and `userContent`."""
    by_spelling: dict[str, list[str]] = {}
    for key in new:
        if key not in old:
            by_spelling.setdefault(fold_name(key), []).append(key)
    candidates = {key: by_spelling.get(fold_name(key), []) for key in old if key not in new}
    rename = {key: names[0] for key, names in candidates.items() if len(names) == 1}
    # Two old keys with one new spelling are ambiguous: renaming both would lose a value.
    return rename if len(set(rename.values())) == len(rename) else {}


def _diff_arrays(old: list[Json], new: list[Json], atomic: Atomic) -> Patch:
    pairs = enumerate(zip(old, new, strict=False))
    at = {str(index): diff(before, after, atomic) for index, (before, after) in pairs}
    # Digests of all elements, also of those without a patch: if a case is inserted at the front,
    # the patches still find their elements.
    patch: Patch = {"was": [_digest(value) for value in old]}
    changed: Object = {index: inner for index, inner in at.items() if inner is not None}
    if changed:
        patch["at"] = changed
    if len(new) > len(old):
        patch["more"] = new[len(old) :]
    if len(new) < len(old):
        patch["cut"] = len(new)
    return patch


def _apply_object(doc: Object, patch: Patch) -> Object:
    rename = cast("dict[str, str]", _object(patch, "rename"))
    patched = {rename.get(key, key): value for key, value in doc.items()}
    for key, digest in _object(patch, "drop").items():
        if key in patched and _digest(patched[key]) == digest:
            del patched[key]
    for key, inner in _object(patch, "at").items():
        if key in patched:
            patched[key] = apply(patched[key], cast("Patch", inner))
    for key, value in _object(patch, "set").items():
        patched.setdefault(key, value)  # a key that was added by an edit wins
    order = cast("list[str]", patch.get("order") or [])
    ordered = {key: patched[key] for key in order if key in patched}
    return ordered | patched


def _apply_array(doc: list[Json], patch: Patch) -> list[Json]:
    digests = cast("list[str]", patch["was"])
    patched = list(doc)
    # After an insertion or a removal, elements are found by their digests instead of their indexes.
    aligned = len(doc) == len(digests)
    for index, inner in _object(patch, "at").items():
        position = int(index) if aligned else _find(doc, digests[int(index)])
        if position is not None:
            patched[position] = apply(patched[position], cast("Patch", inner))
    # Where the list ended is unknown after an insertion or removal, so nothing is cut or appended.
    if not aligned:
        return patched
    cut = cast("int | None", patch.get("cut"))
    return patched[:cut] + cast("list[Json]", patch.get("more") or [])


def _find(doc: list[Json], digest: str) -> int | None:
    return next((index for index, value in enumerate(doc) if _digest(value) == digest), None)
