"""What changed between two versions, and the bump that it demands.

Major: a case is gone, or what it asks, or what it expects, has another meaning; results of the two
versions cannot be compared. Minor: cases were added. Patch: all else. `version` is not compared:
it follows from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, cast

import msgspec

from carob.errors import InputError
from carob.schema import Case, Dataset, Json, Struct, Turn
from carob.schema.digest import case_digest
from carob.schema.versions import Bump, Change, ChangeKind, ChangeLevel, Diff
from carob.versions.align import align, is_derived
from carob.versions.equivalence import json_equal, normalize_value

_WORDING = frozenset({"id", "tags", "metadata", "created_at", "updated_at", "recording"})
"""What of a case asks nothing and expects nothing. A field that is not named here does."""
_TURN_WORDING = frozenset({"id", "start", "end", "model_calls"})
_DATASET = ("name", "title", "description", "tags", "metadata", "created_at")
_UNORDERED = frozenset({"contains", "agents", "tools", "metrics", "rubrics"})
"""Fields of a case that are sets, whatever the order in which they are listed."""
_REMARKS = {
    "tool_calls": frozenset({"id", "reason", "outcome", "start", "end"}),
    "tool_results": frozenset({"id"}),
    "rubrics": frozenset({"description"}),
}
"""What of the items of a list has no part in their meaning."""
_OPEN = frozenset({"metadata", "state", "reference", "session", "scenario"})
"""Fields whose members are compared one by one."""
_encode = msgspec.json.Encoder(order="deterministic").encode
_ORDER: dict[Bump, int] = {"none": 0, "patch": 1, "minor": 2, "major": 3}


class _Field(NamedTuple):
    field: str
    kind: ChangeKind
    level: ChangeLevel
    old: Json
    new: Json


def diff(old: Dataset, new: Dataset) -> Diff:
    """What changed from `old` to `new`, case by case and field by field."""
    try:
        changes = (*_dataset_changes(old, new), *_case_changes(old, new))
    except RecursionError as error:
        raise InputError("a value is nested too deeply to be compared") from error
    return Diff(bump=highest(changes), changes=changes, before=len(old.cases), after=len(new.cases))


def highest(changes: tuple[Change, ...]) -> Bump:
    """The bump that changes demand."""
    levels: list[Bump] = ["none", *(change.level for change in changes)]
    return max(levels, key=lambda level: _ORDER[level])


def is_lower(bump: Bump, than: Bump) -> bool:
    """Does a bump promise more than another one does?"""
    return _ORDER[bump] < _ORDER[than]


def with_losses(found: Diff) -> Diff:
    """The diff in which what the new format has no place for is gone, and not only unsaid."""
    gone = tuple(
        Change(case=loss.case, field=loss.field, kind="removed", level=_lost_level(loss.field))
        for loss in found.lost
        if loss.case is not None and not loss.field.startswith("$")
    )
    changes = (*found.changes, *gone)
    return msgspec.structs.replace(found, bump=highest(changes), changes=changes)


def _lost_level(path: str) -> ChangeLevel:
    first, *rest = re.findall(r"[A-Za-z_]\w*", path)
    wording = _WORDING
    if first == "turns" and rest:
        first, *rest = rest
        wording = _TURN_WORDING
    if rest and rest[-1] in _REMARKS.get(first, ()):
        return "patch"
    return _level(first, wording)


def _level(name: str, wording: frozenset[str]) -> ChangeLevel:
    return "patch" if name in wording else "major"


def _dataset_changes(old: Dataset, new: Dataset) -> Iterator[Change]:
    for name in _DATASET:
        if name == "name" and (_is_unnamed(old) or _is_unnamed(new)):
            continue
        for found in _compare(name, _plain(old, name), _plain(new, name), "patch"):
            yield Change(case=None, **found._asdict())


def _is_unnamed(dataset: Dataset) -> bool:
    """Is the name only that of a file?"""
    return dataset.origin is not None and bool(dataset.origin.unnamed)


def _case_changes(old: Dataset, new: Dataset) -> Iterator[Change]:
    aligned = align(old.cases, new.cases)
    for index in aligned.removed:
        yield _whole(old.cases[index], "removed", "major")
    for index, place in aligned.pairs:
        before, after = old.cases[index], new.cases[place]
        for found in _fields(before, after):
            yield Change(case=after.id, user=_said(after), **found._asdict())
    for place in aligned.added:
        yield _whole(new.cases[place], "added", "minor")
    places = [index for index, _ in aligned.pairs]
    if places != sorted(places):
        yield Change(case=None, field="order", kind="changed", level="patch")


def _whole(case: Case, kind: ChangeKind, level: ChangeLevel) -> Change:
    return Change(case=case.id, field=None, kind=kind, level=level, user=_said(case))


def _said(case: Case) -> str | None:
    return next((turn.user for turn in case.turns if turn.user), None)


def _fields(old: Case, new: Case) -> Iterator[_Field]:
    if case_digest(old) == case_digest(new):
        return
    for name in Case.__struct_fields__:
        if name == "turns":
            yield from _turns(old.turns, new.turns)
        elif name != "origin" and not (name == "id" and is_derived(old) and is_derived(new)):
            before, after = _plain(old, name), _plain(new, name)
            yield from _compare(name, before, after, _level(name, _WORDING))


def _turns(old: tuple[Turn, ...], new: tuple[Turn, ...]) -> Iterator[_Field]:
    for index in range(max(len(old), len(new))):
        path = f"turns[{index}]"
        if index >= len(new):
            yield _Field(path, "removed", "major", _json(old[index]), None)
        elif index >= len(old):
            yield _Field(path, "added", "major", None, _json(new[index]))
        else:
            yield from _turn(path, old[index], new[index])


def _turn(path: str, old: Turn, new: Turn) -> Iterator[_Field]:
    for name in Turn.__struct_fields__:
        before, after = _plain(old, name), _plain(new, name)
        yield from _compare(f"{path}.{name}", before, after, _level(name, _TURN_WORDING))


def _plain(noun: Struct, name: str) -> Json:
    return _json(getattr(noun, name))


def _json(value: object) -> Json:
    # Not `to_builtins`: a tuple must become a list, as on the other side of a file.
    return cast("Json", msgspec.json.decode(_encode(value)))


def _compare(path: str, old: Json, new: Json, level: ChangeLevel) -> Iterator[_Field]:
    name = path.rpartition(".")[2]
    if name not in _OPEN or not isinstance(old, dict) or not isinstance(new, dict):
        yield from _differing(path, old, new, level)
        return
    for key in old | new:
        place = f"{path}.{key}"
        if key in old and key in new:
            yield from _differing(place, old[key], new[key], level)
        else:
            kind: ChangeKind = "added" if key in new else "removed"
            yield _Field(place, kind, level, old.get(key), new.get(key))


def _differing(path: str, old: Json, new: Json, level: ChangeLevel) -> Iterator[_Field]:
    if json_equal(old, new):
        return
    kind: ChangeKind = "added" if old is None else "removed" if new is None else "changed"
    same = json_equal(_meant(path, old), _meant(path, new))
    yield _Field(path, kind, "patch" if same else level, old, new)


def _meant(path: str, value: Json) -> Json:
    """The value as far as it has meaning in its field."""
    meant = normalize_value(value)
    if isinstance(meant, list):
        remarks = _REMARKS.get(path.rpartition(".")[2], frozenset())
        meant = [_without(item, remarks) for item in meant]
        if path in _UNORDERED:
            meant = sorted(meant, key=_encode)
    return meant


def _without(item: Json, remarks: frozenset[str]) -> Json:
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key not in remarks}
