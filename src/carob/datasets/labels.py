"""What people think of an agent's answers: a table, JSON lines or a JSON list of labels."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from carob.datasets import locate
from carob.datasets.source import Row, Source, open_source
from carob.errors import FormatError
from carob.schema import Json, Label, Opinion
from carob.text.spelling import nearest

_KEYS = ("case", "label", "trace", "metric", "by", "note")
_MOST = 100_000
"""Labels of one file: people do not make more."""
_LONGEST = 20_000
"""Characters of one text."""
_WIDEST = 200
"""Columns or keys."""
_VERDICTS: Mapping[str, Opinion] = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "valid"), "passed"),
    **dict.fromkeys(("fail", "failed", "no", "false", "invalid"), "failed"),
}
_WANTED = "a number, or one of pass, fail, yes, no, true, false, valid, invalid"
_SHAPE = "the columns or keys are case and label, and trace, metric, by and note if you like"


def read_labels(path: Path) -> tuple[Label, ...]:
    """The labels of a file, in its order."""
    source = open_source(path)
    made: list[Label] = []
    for row in _rows(source):
        if len(made) == _MOST:
            raise FormatError(f"more than {_MOST:,} labels", where=str(path))
        made.append(_label(row, f"{path} line {row.line}"))
    if not made:
        raise FormatError("no labels", where=str(path), hint=_SHAPE)
    _check_once(made)
    return tuple(made)


def _rows(source: Source) -> Iterator[Row]:
    if source.container == "table":
        _check_keys(source.columns, str(source.path))
    if source.container != "document":
        yield from source.rows()
        return
    items = source.document if isinstance(source.document, list) else [source.document]
    places = [f"$[{index}]" for index in range(min(len(items), _MOST))]
    lines = locate.lines(source.data, places) if isinstance(source.document, list) else {}
    for index, item in enumerate(items):
        yield Row(lines.get(f"$[{index}]", 1), item)


def _label(row: Row, where: str) -> Label:
    if row.error:
        raise row.error
    if not isinstance(row.value, dict):
        message = f"found {row.value!r:.60}, expected an object"
        raise FormatError(message, where=where, hint=_SHAPE)
    values = _named(row.value, where)
    texts = {key: _text(values, key, where) for key in _KEYS if key != "label"}
    case = texts.pop("case")
    if case is None:
        raise FormatError("no case", where=where, hint="write the id of the golden case")
    return Label(case=case, label=_opinion(values.get("label"), where), where=where, **texts)


def _named(item: Mapping[str, Json], where: str) -> dict[str, Json]:
    """The values under our keys, however they are spelt; what is not ours is passed over."""
    found = {key: key.strip().lower() for key in item}
    _check_keys(tuple(found), where, whole=False)
    return {name: item[key] for key, name in found.items() if name in _KEYS}


def _check_keys(keys: tuple[str, ...], where: str, *, whole: bool = True) -> None:
    """A table may have columns of its own, but none that is misspelt: it would not count."""
    if len(keys) > _WIDEST:
        raise FormatError(f"{len(keys):,} columns or keys, at most {_WIDEST} are read", where=where)
    names = [key.strip().lower() for key in keys]
    for key, name in zip(keys, names, strict=True):
        meant = _meant(name)
        if meant is not None and meant not in names:
            hint = f"did you mean {meant!r}?"
            raise FormatError(f"unknown column or key {key!r:.60}", where=where, hint=hint)
        if name in _KEYS and names.count(name) > 1:
            raise FormatError(f"{name!r} is there twice", where=where)
    missing = [name for name in ("case", "label") if name not in names]
    if whole and missing:
        found = ", ".join(keys)
        message = f"no column {missing[0]!r}, found {found!r:.80}"
        hint = "separate the columns by commas" if ";" in found or "\t" in found else _SHAPE
        raise FormatError(message, where=where, hint=hint)


@lru_cache(1024)
def _meant(name: str) -> str | None:
    """The key that is probably meant."""
    return nearest(name[:20], _KEYS, cutoff=0.75)


def _text(values: Mapping[str, Json], key: str, where: str) -> str | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FormatError(f"{key} is {value!r:.60}, expected a text", where=where)
    text = str(value).strip()  # ids that look like numbers are written without quotes
    if len(text) > _LONGEST:
        message = f"{key} has {len(text):,} characters, at most {_LONGEST:,} are read"
        raise FormatError(message, where=where)
    return text or None


def _opinion(value: Json, where: str) -> Opinion:
    if isinstance(value, bool):
        return "passed" if value else "failed"
    if isinstance(value, int | float):
        return _finite(value, where)
    if value is None or value == "":
        hint = f"write {_WANTED}; remove what nobody has labelled yet"
        raise FormatError("no label", where=where, hint=hint)
    if isinstance(value, str):
        text = value.strip().lower()
        return _VERDICTS[text] if text in _VERDICTS else _finite(text, where)
    raise _unknown(value, where)


def _finite(value: str | float, where: str) -> float:
    try:
        number = float(value)
    except (ValueError, OverflowError) as error:
        raise _unknown(value, where) from error
    if not math.isfinite(number):
        raise _unknown(value, where)
    return number


def _unknown(value: Json, where: str) -> FormatError:
    return FormatError(f"label is {value!r:.60}, expected {_WANTED}", where=where)


def _check_once(labels: list[Label]) -> None:
    """A person who says two things of the same answer has to make up their mind."""
    seen: dict[object, Label] = {}
    for one in labels:
        if one.by is None:
            continue
        first = seen.setdefault((one.case, one.trace, one.metric, one.by), one)
        if first is not one:
            message = f"{one.by!r} labels case {one.case!r} again, after {first.where}"
            raise FormatError(message, where=one.where, hint="keep one of them")


def of_metric(labels: tuple[Label, ...], name: str) -> tuple[Label, ...]:
    """The labels for one metric: those that name it, and those that name none."""
    found = [one for one in labels if one.metric in (name, None)]
    return tuple(msgspec.structs.replace(one, metric=name) for one in found)
