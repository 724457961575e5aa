"""Remove API keys from texts, so that none ends up in a message, a repr or a log."""

from __future__ import annotations

import re

_FRAGMENT = 6  # providers mask keys themselves, but leave a few characters at both ends
_WORD = re.compile(r"[^\s'\"`,;:()<>{}\[\]]+")


class Redactor:
    """Replaces every word that contains a fragment of a key with `***`."""

    def __init__(self, *keys: str | None) -> None:
        self._fragments = {fragment for key in keys if key for fragment in _fragments(key)}

    def redact(self, text: str) -> str:
        """Return the text without words that contain a part of a key."""
        return _WORD.sub(lambda word: "***" if self._matches(word[0]) else word[0], text)

    def __repr__(self) -> str:
        return "Redactor(***)"

    def _matches(self, word: str) -> bool:
        return any(fragment in word for fragment in self._fragments)


def _fragments(key: str) -> set[str]:
    # A key may contain the separators of words, as in `user:password`, so each of its parts is
    # matched separately. Short parts are ignored if there is a longer one: the part `a` of
    # `a:long-password` would redact half of every message.
    parts: list[str] = _WORD.findall(key)
    long_parts = [part for part in parts if len(part) >= _FRAGMENT] or parts
    return {
        part[start : start + _FRAGMENT]
        for part in long_parts
        for start in range(max(1, len(part) - _FRAGMENT + 1))
    }
