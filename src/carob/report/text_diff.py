"""What differs between two texts, word by word, and between two JSON documents, place by place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from carob.schema import Json

_WORD = re.compile(
    r"\s*(?:[\u0e00-\u0eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]|\w+|[^\w\s])\s*|\s+"
)
_MOST = 4000
"""Words of a text that are compared one by one."""
_MOST_PLACES = 200


class Piece(NamedTuple):
    """Some words that both texts have, or that stand in each other's place."""

    same: bool
    expected: str
    actual: str


class Difference(NamedTuple):
    """A place in two JSON documents with different values, as JSON; `None` if it is not there."""

    place: str
    expected: str | None
    actual: str | None


def compare_words(expected: str, actual: str) -> list[Piece]:
    """The texts in pieces, of which as many words as possible are the same in both."""
    before, after = _WORD.findall(expected), _WORD.findall(actual)
    start = _shared(before, after)
    end = _shared(before[start:][::-1], after[start:][::-1])
    rows, columns = len(before) - end, len(after) - end
    matches = [
        *((index, index) for index in range(start)),
        *(
            (row + start, column + start)
            for row, column in _common(before[start:rows], after[start:columns])
        ),
        *((rows + index, columns + index) for index in range(end)),
    ]
    return list(_pieces(before, after, matches))


def _shared(before: Sequence[str], after: Sequence[str]) -> int:
    """How many words are the same from the start on."""
    pairs = zip(before, after, strict=False)
    return next(
        (index for index, (one, other) in enumerate(pairs) if one.strip() != other.strip()),
        min(len(before), len(after)),
    )


def _pieces(
    before: list[str], after: list[str], matches: Sequence[tuple[int, int]]
) -> Iterator[Piece]:
    row = column = since = 0
    for index, (one, other) in enumerate([*matches, (len(before), len(after))]):
        if one > row or other > column:
            yield from _same(before, after, matches[since:index])
            yield Piece(False, "".join(before[row:one]), "".join(after[column:other]))
            since = index
        row, column = one + 1, other + 1
    yield from _same(before, after, matches[since:])


def _same(
    before: list[str], after: list[str], matches: Sequence[tuple[int, int]]
) -> Iterator[Piece]:
    if matches:
        (row, column), (last_row, last_column) = matches[0], matches[-1]
        texts = before[row : last_row + 1], after[column : last_column + 1]
        yield Piece(True, "".join(texts[0]), "".join(texts[1]))


def _common(before: list[str], after: list[str]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence. A row of the table is one integer, whose zero
    bits are where the length grows, so that no text, however built, takes long."""
    if max(len(before), len(after)) > _MOST:
        return []
    places: dict[str, int] = {}
    for index, word in enumerate(after):
        places[word.strip()] = places.get(word.strip(), 0) | 1 << index
    whole = (1 << len(after)) - 1
    rows = [whole]
    for word in before:
        last = rows[-1]
        hits = last & places.get(word.strip(), 0)
        rows.append(((last + hits) | (last - hits)) & whole)
    return _way_back(rows, len(after))


def _way_back(rows: list[int], column: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    row = len(rows) - 1
    while row and column:
        bit = 1 << (column - 1)
        if rows[row] & bit:
            column -= 1
            continue
        row -= 1
        if rows[row] & bit:
            column -= 1
            found.append((row, column))
    return found[::-1]


def compare_json(expected: str, actual: str) -> list[Difference] | None:
    """The places that differ; `None` if one of the texts is no JSON object or list."""
    before, after = _decoded(expected), _decoded(actual)
    if before is None or after is None:
        return None
    found: list[Difference] = []
    for difference in _differences(before, after):
        found.append(difference)
        if len(found) == _MOST_PLACES:
            break
    return found


def _decoded(text: str) -> Json:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


class _Absent:
    """In place of a value that is not there, which `null` is not."""


_ABSENT = _Absent()


def _differences(before: Json, after: Json) -> Iterator[Difference]:
    todo: list[tuple[str, Json | _Absent, Json | _Absent]] = [("$", before, after)]
    while todo:
        place, one, other = todo.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = reversed(dict.fromkeys([*one, *other]))
            todo += [(f"{place}.{k}", one.get(k, _ABSENT), other.get(k, _ABSENT)) for k in keys]
        elif isinstance(one, list) and isinstance(other, list):
            for index in reversed(range(max(len(one), len(other)))):
                todo.append((f"{place}[{index}]", _item(one, index), _item(other, index)))
        elif one != other or isinstance(one, bool) != isinstance(other, bool):
            yield Difference(place, _written(one), _written(other))


def _item(values: list[Json], index: int) -> Json | _Absent:
    return values[index] if index < len(values) else _ABSENT


def _written(value: Json | _Absent) -> str | None:
    return None if isinstance(value, _Absent) else msgspec.json.encode(value).decode()
