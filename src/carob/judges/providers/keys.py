"""Keys, which nobody is to read: not in a message, not in a repr, not in a log."""

from __future__ import annotations

import re

_PIECE = 6  # providers mask keys themselves, and leave a few letters at both ends
_WORD = re.compile(r"[^\s'\"`,;:()<>{}\[\]]+")


class Keys:
    """Takes itself out of texts."""

    def __init__(self, *keys: str | None) -> None:
        self._pieces = {piece for key in keys if key for piece in _pieces(key)}

    def hide(self, text: str) -> str:
        """The text without the words that have a part of a key in them."""
        return _WORD.sub(lambda word: "***" if self._in(word[0]) else word[0], text)

    def __repr__(self) -> str:
        return "Keys(***)"

    def _in(self, word: str) -> bool:
        return any(piece in word for piece in self._pieces)


def _pieces(key: str) -> set[str]:
    """Words are told apart at signs that a key may have too: each part of it is a key, unless it is
    too short to tell anything and would hide half of every message."""
    parts: list[str] = _WORD.findall(key)
    telling = [part for part in parts if len(part) >= _PIECE] or parts
    return {
        part[at : at + _PIECE] for part in telling for at in range(max(1, len(part) - _PIECE + 1))
    }
