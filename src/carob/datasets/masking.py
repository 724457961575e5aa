"""Golden data without personal data and secrets: each is replaced by a word for what it was.

The same number or address gets the same word throughout, however it is written, so that an argument
still equals the message that it was taken from.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Json
from carob.text.sensitive import KINDS, Kind, Piece, find, missing

_WORD = re.compile(rf"<({'|'.join(KINDS)})-(\d{{1,9}})>")


class Masks:
    """The words that stand for what was found: `<email-1>`, `<phone-1>`, `<email-2>`."""

    def __init__(self) -> None:
        lacking = missing()
        if lacking:
            raise UsageError(
                f"masking needs the package {next(iter(lacking.values()))!r}, "
                "which is not installed",
                hint='pip install "carob[pii]"',
            )
        self._words: dict[tuple[Kind, str], str] = {}
        self._counts: dict[str, int] = {}

    def reserve(self, text: str) -> None:
        """Words that are there already stand for somebody else."""
        if "<" in text:
            for kind, number in _WORD.findall(text):
                self._counts[kind] = max(self._counts.get(kind, 0), int(number))

    def masked(self, text: str, wanted: Callable[[Piece], bool] = lambda _: True) -> str:
        """The text with a word in place of each piece that is wanted."""
        # What is left around a word may be a piece by itself, hence again.
        while pieces := [piece for piece in find(text) if wanted(piece)]:
            parts: list[str] = []
            end = 0
            for piece in pieces:
                parts += [text[end : piece.start], self._word(piece.kind, piece.same)]
                end = piece.end
            text = "".join([*parts, text[end:]])
        return text

    def _word(self, kind: Kind, same: str) -> str:
        word = self._words.get((kind, same))
        if word is None:
            number = self._counts[kind] = self._counts.get(kind, 0) + 1
            word = self._words[kind, same] = f"<{kind}-{number}>"
        return word


def masked(case: Case, masks: Masks) -> Case:
    """The case with every piece replaced; its id, its metadata and thus its lineage stay."""
    document = cast("dict[str, Json]", msgspec.json.decode(msgspec.json.encode(case)))
    made = {
        name: value if name in {"id", "metadata"} else _masked(value, masks)
        for name, value in document.items()
    }
    return case if made == document else msgspec.convert(made, Case)


def _masked(value: Json, masks: Masks) -> Json:
    if isinstance(value, str):
        return masks.masked(value)
    if isinstance(value, list):
        return [_masked(item, masks) for item in value]
    if isinstance(value, dict):
        return {masks.masked(key): _masked(item, masks) for key, item in value.items()}
    return value
