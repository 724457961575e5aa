"""Find the golden format that a file would have with one other key."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from carob.datasets.document_types import fields_by_name, item_type
from carob.datasets.formats import Format
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import Json
from carob.text.spelling import fold_name, nearest_name

_KEY = re.compile(r"`(\w+)`")
_VALUES: tuple[Json, ...] = ("", [], {})
"""What a missing key may hold: formats look at the type of a value at most."""
_CLOSE = 0.75
_Rebuild: TypeAlias = Callable[[Object], Json]


class _Level(NamedTuple):
    """An object whose keys decide the format: the sample itself, or the first of its cases."""

    keys: Object
    rebuild: _Rebuild
    """The sample with this object changed."""
    place: str


def find_near_format(
    samples: Sequence[tuple[Container, Json]], formats: Sequence[Format]
) -> str | None:
    """Name the format that would claim a file with one key renamed or added, and the key; or in a
    document around its cases."""
    for container, sample in samples:
        if container in ("rows", "list") and (bare := _find_bare_cases(sample, formats)):
            return bare
    for find in (_find_misspelled, _find_missing):
        for container, sample in samples:
            fitting = [form for form in formats if container in form.containers]
            for level in _levels(sample):
                spelled = _keys_of_incomplete(fitting, level)
                for form in fitting:
                    if difference := find(form, level, spelled):
                        return f"this is nearly the format {form.name}: {difference}"
    return None


def _keys_of_incomplete(formats: Sequence[Format], level: _Level) -> frozenset[str]:
    """The keys of formats that lack another key: `eval_set_id` without `eval_cases` is not a
    misspelled `eval_set_result_id`."""
    return frozenset(
        name
        for form in formats
        if _find_missing(form, level)
        for name in _KEY.findall(form.recognized_by)
    )


def _find_bare_cases(sample: Json, formats: Sequence[Format]) -> str | None:
    """Name the format whose documents list cases like this one: it knows most of the keys."""
    row = sample if isinstance(sample, dict) else {}
    near: list[tuple[int, str]] = []
    for form in formats:
        key = next(iter(form.items_keys), None)
        shape = item_type(form.shape, key) if key and "rows" not in form.containers else None
        if key is None or shape is None or not form.claims({key: [row]}):
            continue
        known = fields_by_name(shape)
        count = sum(name in known for name in row)
        if count > 1 and 2 * count > len(row):
            text = f"these are cases of the format {form.name}: list them under `{key}`"
            near.append((count, text))
    return max(near, key=lambda pair: pair[0], default=(0, None))[1]


def _levels(sample: Json) -> Iterator[_Level]:
    if not isinstance(sample, dict):
        return
    yield _Level(sample, _keep, "")
    for key, value in sample.items():
        first = value[0] if isinstance(value, list) and value else None
        if isinstance(first, dict):
            yield _Level(first, _replace_first(sample, key), f" in `{key}`")


def _keep(changed: Object) -> Json:
    return changed


def _replace_first(sample: Object, key: str) -> _Rebuild:
    return lambda changed: {**sample, key: [changed]}


def _missing_names(form: Format, level: _Level) -> list[str]:
    """The keys that the format is recognized by and the object does not have."""
    names: list[str] = _KEY.findall(form.recognized_by)
    return [name for name in dict.fromkeys(names) if not _has_name(level.keys, name)]


def _has_name(keys: Object, name: str) -> bool:
    """Whether a key has the name in any spelling; `__expected` of promptfoo is not `expected`."""
    if name.startswith("__"):
        return name in keys
    return fold_name(name) in set(map(fold_name, keys))


def _find_misspelled(form: Format, level: _Level, spelled: frozenset[str]) -> str | None:
    for name in _missing_names(form, level):
        key = nearest_name(name, level.keys, cutoff=_CLOSE)
        if key is None or key in spelled or (name.startswith("__") and not key.startswith("_")):
            continue
        changed = {name if old == key else old: value for old, value in level.keys.items()}
        if form.claims(level.rebuild(changed)):
            return f"rename `{key}`{level.place} to `{name}`"
    return None


def _find_missing(
    form: Format, level: _Level, _spelled: frozenset[str] = frozenset()
) -> str | None:
    names = _missing_names(form, level)
    known = [name for name in _KEY.findall(form.recognized_by) if name not in names]
    for name in names if known else ():
        if any(form.claims(level.rebuild({**level.keys, name: value})) for value in _VALUES):
            found = ", ".join(f"`{key}`" for key in dict.fromkeys(known))
            return f"it has {found}{level.place}, but not `{name}`"
    return None
