"""Compare two versions of a dataset and derive the required version bump.

Major: a case was removed, or its question or expectation changed its meaning, so that results of
the two versions are not comparable. Minor: cases were added. Patch: everything else, such as a
corrected typo in an expected answer. `version` is not compared, because it follows from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, cast

import msgspec

from carob.errors import InputError
from carob.files.spool import Spool
from carob.schema import Case, Dataset, Json, Struct, Turn
from carob.schema.codec import CompactCodec
from carob.schema.digest import case_digest
from carob.schema.equality import json_equal
from carob.schema.versions import Bump, Change, ChangeKind, ChangeLevel, Diff
from carob.versions.align import align, has_derived_id
from carob.versions.equivalence import normalize_value

_NEUTRAL_FIELDS = frozenset({"id", "tags", "metadata", "created_at", "updated_at", "recording"})
"""Fields of a case that are neither question nor expectation. Fields not listed are either, so that
a new field is major until somebody decides otherwise."""
_NEUTRAL_TURN_FIELDS = frozenset({"id", "start", "end", "model_calls"})
_DATASET = ("name", "title", "description", "tags", "metadata", "created_at")
_UNORDERED = frozenset({"contains", "agents", "tools", "metrics", "rubrics"})
"""Fields of a case whose order does not matter."""
_NEUTRAL_KEYS = {
    "tool_calls": frozenset({"id", "reason", "outcome", "start", "end"}),
    "tool_results": frozenset({"id"}),
    "rubrics": frozenset({"description"}),
}
"""Keys of list items that do not affect their meaning."""
_COMPARED_BY_KEY = frozenset({"metadata", "state", "reference", "session", "scenario"})
"""Fields whose keys are compared one by one."""
_CHANGES = CompactCodec(Change)
_encode = msgspec.json.Encoder(order="deterministic").encode
_ORDER: dict[Bump, int] = {"none": 0, "patch": 1, "minor": 2, "major": 3}


class _FieldChange(NamedTuple):
    field: str
    kind: ChangeKind
    level: ChangeLevel
    old: Json
    new: Json


def diff(old: Dataset, new: Dataset) -> Diff:
    """List the changes from `old` to `new`, case by case and field by field."""
    try:
        spool = Spool(_CHANGES)
        spool.extend(_dataset_changes(old, new))
        spool.extend(_case_changes(old, new))
        changes = spool.finish()
    except RecursionError as error:
        raise InputError("a value is too deeply nested to compare") from error
    return Diff(
        bump=bump_for(changes), changes=changes, before=len(old.cases), after=len(new.cases)
    )


def bump_for(changes: Iterable[Change]) -> Bump:
    """The bump that the changes require."""
    levels: set[Bump] = {"none", *(change.level for change in changes)}
    return max(levels, key=lambda level: _ORDER[level])


def is_lower(bump: Bump, than: Bump) -> bool:
    """Whether a bump is lower than another."""
    return _ORDER[bump] < _ORDER[than]


def with_losses(result: Diff) -> Diff:
    """Count fields that the new format cannot hold as removed."""
    removed = tuple(
        Change(case=loss.case, field=loss.field, kind="removed", level=_level_of_loss(loss.field))
        for loss in result.lost
        if loss.case is not None and not loss.field.startswith("$")
    )
    changes = (*result.changes, *removed)
    return msgspec.structs.replace(result, bump=bump_for(changes), changes=changes)


def _level_of_loss(path: str) -> ChangeLevel:
    first, *rest = re.findall(r"[A-Za-z_]\w*", path)
    neutral = _NEUTRAL_FIELDS
    if first == "turns" and rest:
        first, *rest = rest
        neutral = _NEUTRAL_TURN_FIELDS
    if rest and rest[-1] in _NEUTRAL_KEYS.get(first, ()):
        return "patch"
    return _level(first, neutral)


def _level(name: str, neutral: frozenset[str]) -> ChangeLevel:
    return "patch" if name in neutral else "major"


def _dataset_changes(old: Dataset, new: Dataset) -> Iterator[Change]:
    for name in _DATASET:
        if name == "name" and (_is_unnamed(old) or _is_unnamed(new)):
            continue
        for change in _compare(name, _field(old, name), _field(new, name), "patch"):
            yield Change(case=None, **change._asdict())


def _is_unnamed(dataset: Dataset) -> bool:
    """Whether the name is only the file name."""
    return dataset.origin is not None and bool(dataset.origin.unnamed)


def _case_changes(old: Dataset, new: Dataset) -> Iterator[Change]:
    aligned = align(old.cases, new.cases)
    for index in aligned.removed:
        yield _case_change(old.cases[index], "removed", "major")
    for index, place in aligned.pairs:
        if aligned.unchanged[place]:
            continue
        before, after = old.cases[index], new.cases[place]
        for change in _field_changes(before, after):
            yield Change(case=after.id, user=_first_message(after), **change._asdict())
    for place in aligned.added:
        yield _case_change(new.cases[place], "added", "minor")
    if any(first[0] > second[0] for first, second in pairwise(aligned.pairs)):
        yield Change(case=None, field="order", kind="changed", level="patch")


def _case_change(case: Case, kind: ChangeKind, level: ChangeLevel) -> Change:
    return Change(case=case.id, field=None, kind=kind, level=level, user=_first_message(case))


def _first_message(case: Case) -> str | None:
    return next((turn.user for turn in case.turns if turn.user), None)


def _field_changes(old: Case, new: Case) -> Iterator[_FieldChange]:
    if case_digest(old) == case_digest(new):
        return
    # Changes are reported by the names that golden files and `--where` use.
    for field, name in zip(Case.__struct_fields__, Case.__struct_encode_fields__, strict=True):
        if name == "turns":
            yield from _turn_changes(old.turns, new.turns)
        elif name != "origin" and not (
            name == "id" and has_derived_id(old) and has_derived_id(new)
        ):
            before, after = _field(old, field), _field(new, field)
            yield from _compare(name, before, after, _level(name, _NEUTRAL_FIELDS))


def _turn_changes(old: tuple[Turn, ...], new: tuple[Turn, ...]) -> Iterator[_FieldChange]:
    for index in range(max(len(old), len(new))):
        path = f"turns[{index}]"
        if index >= len(new):
            yield _FieldChange(path, "removed", "major", _to_json(old[index]), None)
        elif index >= len(old):
            yield _FieldChange(path, "added", "major", None, _to_json(new[index]))
        else:
            yield from _one_turn_changes(path, old[index], new[index])


def _one_turn_changes(path: str, old: Turn, new: Turn) -> Iterator[_FieldChange]:
    for name in Turn.__struct_fields__:
        before, after = _field(old, name), _field(new, name)
        yield from _compare(f"{path}.{name}", before, after, _level(name, _NEUTRAL_TURN_FIELDS))


def _field(struct: Struct, name: str) -> Json:
    return _to_json(getattr(struct, name))


def _to_json(value: object) -> Json:
    # `to_builtins` keeps tuples, which differ from the lists that are read from a file.
    return cast("Json", msgspec.json.decode(_encode(value)))


def _compare(path: str, old: Json, new: Json, level: ChangeLevel) -> Iterator[_FieldChange]:
    name = path.rpartition(".")[2]
    if name not in _COMPARED_BY_KEY or not isinstance(old, dict) or not isinstance(new, dict):
        yield from _value_change(path, old, new, level)
        return
    for key in old | new:
        place = f"{path}.{key}"
        if key in old and key in new:
            yield from _value_change(place, old[key], new[key], level)
        else:
            kind: ChangeKind = "added" if key in new else "removed"
            yield _FieldChange(place, kind, level, old.get(key), new.get(key))


def _value_change(path: str, old: Json, new: Json, level: ChangeLevel) -> Iterator[_FieldChange]:
    if json_equal(old, new):
        return
    kind: ChangeKind = "added" if old is None else "removed" if new is None else "changed"
    same = json_equal(_comparable(path, old), _comparable(path, new))
    if not same and path.startswith("turns[") and path.endswith(".response"):
        # Late: its vocabulary is large, and few answers are changed.
        from carob.versions.wording import is_correction

        same = isinstance(old, str) and isinstance(new, str) and is_correction(old, new)
    yield _FieldChange(path, kind, "patch" if same else level, old, new)


def _comparable(path: str, value: Json) -> Json:
    """The value without differences that do not affect its meaning."""
    value = normalize_value(value)
    if isinstance(value, list):
        ignored = _NEUTRAL_KEYS.get(path.rpartition(".")[2], frozenset())
        value = [_without_keys(item, ignored) for item in value]
        if path in _UNORDERED:
            value = sorted(value, key=_encode)
    return value


def _without_keys(item: Json, ignored: frozenset[str]) -> Json:
    if not isinstance(item, dict):
        return item
    return {key: value for key, value in item.items() if key not in ignored}
