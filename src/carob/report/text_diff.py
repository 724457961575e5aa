"""Differences between two texts, word by word, and between two JSON documents, path by path."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from carob.schema import Json

# Compiled on first use: the sets take long to compile, and few commands show differences.
_TIME = r"\d+(?=T\d)|T(?=\d\d:)"
"""Date and time of a timestamp are words of their own, else `05T09` would be one."""
_WORD = rf"\s*(?:{_TIME}|[\u0e00-\u0eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|\w+|[^\w\s])\s*|\s+"
_MAX_WORDS = 10_000
"""Longer texts are shown as replaced completely; two of this length take 0.1 s."""
_MAX_DIFFERENCES = 200


class TextPiece(NamedTuple):
    """Words that both texts share, or words of one that replace words of the other."""

    same: bool
    expected: str
    actual: str


class JsonDifference(NamedTuple):
    """A path with different values in two JSON documents, as JSON; `None` if it is missing."""

    path: str
    expected: str | None
    actual: str | None


def compare_words(expected: str, actual: str) -> list[TextPiece]:
    """Split the texts into pieces so that as many words as possible are shared."""
    before, after = re.findall(_WORD, expected), re.findall(_WORD, actual)
    start = _common_start(before, after)
    end = _common_start(before[start:][::-1], after[start:][::-1])
    rows, columns = len(before) - end, len(after) - end
    matches = [
        *((index, index) for index in range(start)),
        *(
            (row + start, column + start)
            for row, column in _common_words(before[start:rows], after[start:columns])
        ),
        *((rows + index, columns + index) for index in range(end)),
    ]
    return list(_pieces(before, after, matches))


def _common_start(before: Sequence[str], after: Sequence[str]) -> int:
    """Count the words that both texts have in common at the start."""
    pairs = zip(before, after, strict=False)
    return next(
        (index for index, (old, new) in enumerate(pairs) if old.strip() != new.strip()),
        min(len(before), len(after)),
    )


def _pieces(
    before: list[str], after: list[str], matches: Sequence[tuple[int, int]]
) -> Iterator[TextPiece]:
    row = column = since = 0
    for index, (next_row, next_column) in enumerate([*matches, (len(before), len(after))]):
        if next_row > row or next_column > column:
            yield from _same(before, after, matches[since:index])
            words = "".join(before[row:next_row]), "".join(after[column:next_column])
            yield TextPiece(False, *words)
            since = index
        row, column = next_row + 1, next_column + 1
    yield from _same(before, after, matches[since:])


def _same(
    before: list[str], after: list[str], matches: Sequence[tuple[int, int]]
) -> Iterator[TextPiece]:
    if matches:
        (row, column), (last_row, last_column) = matches[0], matches[-1]
        texts = before[row : last_row + 1], after[column : last_column + 1]
        yield TextPiece(True, "".join(texts[0]), "".join(texts[1]))


def _common_words(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """Return the positions of a longest common subsequence."""
    # Bit-parallel (Hyyrö): a row of the table is one integer whose zero bits mark where the length
    # grows. A plain table takes seconds for two texts of 4,000 words, and difflib degenerates on
    # texts that repeat few words.
    if max(len(before), len(after)) > _MAX_WORDS:
        return []
    positions: dict[str, int] = {}
    for index, word in enumerate(after):
        positions[word.strip()] = positions.get(word.strip(), 0) | 1 << index
    all_bits = (1 << len(after)) - 1
    rows = [all_bits]
    for word in before:
        last = rows[-1]
        hits = last & positions.get(word.strip(), 0)
        rows.append(((last + hits) | (last - hits)) & all_bits)
    return _trace_back(rows, len(after))


def _trace_back(rows: list[int], column: int) -> list[tuple[int, int]]:
    matches: list[tuple[int, int]] = []
    row = len(rows) - 1
    while row and column:
        bit = 1 << (column - 1)
        if rows[row] & bit:
            column -= 1
            continue
        row -= 1
        if rows[row] & bit:
            column -= 1
            matches.append((row, column))
    return matches[::-1]


def compare_json(expected: str, actual: str) -> list[JsonDifference] | None:
    """Return the paths that differ, or `None` unless both texts are JSON objects or arrays."""
    before, after = _decode(expected), _decode(actual)
    if before is None or after is None:
        return None
    differences: list[JsonDifference] = []
    for difference in _differences(before, after):
        differences.append(difference)
        if len(differences) == _MAX_DIFFERENCES:
            break
    return differences


def _decode(text: str) -> Json:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


class _Absent:
    """Stands for a missing value, which is not the same as `null`."""


_ABSENT = _Absent()


def _differences(before: Json, after: Json) -> Iterator[JsonDifference]:
    todo: list[tuple[str, Json | _Absent, Json | _Absent]] = [("$", before, after)]
    while todo:
        path, old, new = todo.pop()
        if isinstance(old, dict) and isinstance(new, dict):
            keys = reversed(dict.fromkeys([*old, *new]))
            todo += [(f"{path}.{k}", old.get(k, _ABSENT), new.get(k, _ABSENT)) for k in keys]
        elif isinstance(old, list) and isinstance(new, list):
            for index in reversed(range(max(len(old), len(new)))):
                todo.append((f"{path}[{index}]", _item(old, index), _item(new, index)))
        # Python says True == 1, JSON does not.
        elif old != new or isinstance(old, bool) != isinstance(new, bool):
            yield JsonDifference(path, _encode(old), _encode(new))


def _item(values: list[Json], index: int) -> Json | _Absent:
    return values[index] if index < len(values) else _ABSENT


def _encode(value: Json | _Absent) -> str | None:
    return None if isinstance(value, _Absent) else msgspec.json.encode(value).decode()
