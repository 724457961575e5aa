"""Human labels of an agent's answers, from CSV, JSON Lines or a JSON list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from carob.datasets.source import Row, Source, open_source
from carob.errors import FormatError
from carob.schema import Json, Label, LabelValue
from carob.text.spelling import nearest_name

_KEYS = ("case", "label", "trace", "metric", "by", "note")
_MAX_LABELS = 100_000
"""Labels per file; people do not write more."""
_MAX_CHARACTERS = 20_000
"""Characters per value."""
_MAX_KEYS = 200
"""Columns or keys per label."""
_VERDICTS: Mapping[str, LabelValue] = {
    **dict.fromkeys(("pass", "passed", "yes", "true", "valid"), "passed"),
    **dict.fromkeys(("fail", "failed", "no", "false", "invalid"), "failed"),
}
_EXPECTED = "a number, or one of pass, fail, yes, no, true, false, valid, invalid"
_FIELDS_HINT = "fields: case and label (required); trace, metric, by and note (optional)"


def read_labels(path: Path) -> tuple[Label, ...]:
    """Read the labels of a file, in file order."""
    source = open_source(path)
    labels: list[Label] = []
    for row in _rows(source):
        if len(labels) == _MAX_LABELS:
            raise FormatError(f"more than {_MAX_LABELS:,} labels", where=str(path))
        labels.append(_label(row, f"{path} line {row.line}"))
    if not labels:
        raise FormatError("no labels", where=str(path), hint=_FIELDS_HINT)
    _check_duplicates(labels)
    return tuple(labels)


def _rows(source: Source) -> Iterator[Row]:
    if source.container == "table":
        _check_keys(source.columns, str(source.path))
    if source.container != "document":
        yield from source.rows()
        return
    items = source.document if isinstance(source.document, list) else [source.document]
    paths = [f"$[{index}]" for index in range(min(len(items), _MAX_LABELS))]
    lines = source.find_lines(paths) if isinstance(source.document, list) else {}
    for index, item in enumerate(items):
        yield Row(lines.get(f"$[{index}]", 1), item)


def _label(row: Row, where: str) -> Label:
    if row.error:
        raise row.error
    if not isinstance(row.value, dict):
        message = f"expected an object, got {row.value!r:.60}"
        raise FormatError(message, where=where, hint=_FIELDS_HINT)
    values = _select_known(row.value, where)
    texts = {key: _text(values, key, where) for key in _KEYS if key != "label"}
    case = texts.pop("case")
    if case is None:
        raise FormatError("missing case", where=where, hint="add the id of the golden case")
    return Label(case=case, label=_label_value(values.get("label"), where), where=where, **texts)


def _select_known(item: Mapping[str, Json], where: str) -> dict[str, Json]:
    """The values of known keys, in any case; unknown keys are ignored."""
    names = {key: key.strip().lower() for key in item}
    _check_keys(tuple(names), where, is_header=False)
    return {name: item[key] for key, name in names.items() if name in _KEYS}


def _check_keys(keys: tuple[str, ...], where: str, *, is_header: bool = True) -> None:
    """Unknown columns are allowed, but not misspelled ones: their values would be ignored."""
    if len(keys) > _MAX_KEYS:
        raise FormatError(
            f"{len(keys):,} columns or keys, expected at most {_MAX_KEYS}", where=where
        )
    names = [key.strip().lower() for key in keys]
    for key, name in zip(keys, names, strict=True):
        suggestion = _suggest_key(name)
        if suggestion is not None and suggestion not in names:
            hint = f"did you mean {suggestion!r}?"
            raise FormatError(f"unknown column or key {key!r:.60}", where=where, hint=hint)
        if name in _KEYS and names.count(name) > 1:
            raise FormatError(f"duplicate column or key {name!r}", where=where)
    missing = [name for name in ("case", "label") if name not in names]
    if is_header and missing:
        listing = ", ".join(keys)
        message = f"missing column {missing[0]!r}, got {listing!r:.80}"
        hint = "separate the columns by commas" if "|" in listing else _FIELDS_HINT
        raise FormatError(message, where=where, hint=hint)


# A file repeats the same few keys in every row.
@lru_cache(1024)
def _suggest_key(name: str) -> str | None:
    """The known key that is closest to a name."""
    return nearest_name(name[:20], _KEYS, cutoff=0.75)


def _text(values: Mapping[str, Json], key: str, where: str) -> str | None:
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FormatError(f"{key}: expected a string, got {value!r:.60}", where=where)
    text = str(value).strip()  # ids that look like numbers are often written without quotes
    if len(text) > _MAX_CHARACTERS:
        message = f"{key}: {len(text):,} characters, expected at most {_MAX_CHARACTERS:,}"
        raise FormatError(message, where=where)
    return text or None


def _label_value(value: Json, where: str) -> LabelValue:
    if isinstance(value, bool):  # before int, because `True` is an int, and 1 is a score
        return "passed" if value else "failed"
    if isinstance(value, int | float):
        return _finite(value, where)
    if value is None or value == "":
        hint = f"expected {_EXPECTED}; remove rows that are not labeled yet"
        raise FormatError("missing label", where=where, hint=hint)
    if isinstance(value, str):
        text = value.strip().lower()
        return _VERDICTS[text] if text in _VERDICTS else _finite(text, where)
    raise _invalid_label(value, where)


def _finite(value: str | float, where: str) -> float:
    try:
        number = float(value)
    except (ValueError, OverflowError) as error:
        raise _invalid_label(value, where) from error
    if not math.isfinite(number):
        raise _invalid_label(value, where)
    return number


def _invalid_label(value: Json, where: str) -> FormatError:
    return FormatError(f"label: expected {_EXPECTED}, got {value!r:.60}", where=where)


def _check_duplicates(labels: list[Label]) -> None:
    """A person may label the same answer only once."""
    by_answer: dict[object, Label] = {}
    for label in labels:
        if label.by is None:
            continue
        first = by_answer.setdefault((label.case, label.trace, label.metric, label.by), label)
        if first is not label:
            message = (
                f"duplicate label of case {label.case!r} by {label.by!r}, first in {first.where}"
            )
            raise FormatError(message, where=label.where, hint="remove one of them")


def labels_for_metric(labels: tuple[Label, ...], name: str) -> tuple[Label, ...]:
    """The labels of one metric, including those without a metric."""
    selected = [label for label in labels if label.metric in (name, None)]
    return tuple(msgspec.structs.replace(label, metric=name) for label in selected)
