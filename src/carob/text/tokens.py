"""Words and stems of a text, split as ADK's `response_match_score` does.

Scripts written without spaces are split into characters, or into a letter with its marks.
"""

from __future__ import annotations

from unicodedata import category, normalize

from carob.text.stem import stem

_OWN_TOKEN = ((0x4E00, 0x9FFF), (0x3040, 0x309F), (0x30A0, 0x30FF), (0xAC00, 0xD7AF))
_OPENS_TOKEN = ((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1780, 0x17FF), (0x1000, 0x109F))

# The caches are cleared when they are full: texts of random words must not fill the memory.
_MAX_CACHED = 1 << 17
_MAX_CACHED_LENGTH = 64  # letters of a word


class _Spacing(dict[int, str]):
    """A table for `str.translate` that is filled as characters appear."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MAX_CACHED:
            self.clear()
        self[code] = replacement = _space_out(code)
        return replacement


class _Stems(dict[str, str]):
    """Stems by word, cached: texts share most of their words, and stemming is slow."""

    def __missing__(self, word: str) -> str:
        stemmed = stem(word) if len(word) > 3 and word.isascii() else word
        if len(word) <= _MAX_CACHED_LENGTH:
            if len(self) >= _MAX_CACHED:
                self.clear()
            self[word] = stemmed
        return stemmed


def split_words(text: str) -> list[str]:
    """Split a text into lower-case words."""
    if not text.isascii():
        text = normalize("NFKC", text)
    return text.lower().translate(_SPACING).split()


def tokenize(text: str) -> list[str]:
    """Split a text into lower-case words, and stem those of ASCII letters."""
    return [_STEMS[word] for word in split_words(text)]


def stem_word(word: str) -> str:
    """Return the stem of a lower-case word."""
    return _STEMS[word]


def _space_out(code: int) -> str:
    char = chr(code)
    mark = category(char).startswith("M")
    if _within(code, _OWN_TOKEN):
        return f" {char} "
    if _within(code, _OPENS_TOKEN):
        return char if mark else f" {char}"
    return char if mark or char.isalnum() else " "


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


_SPACING = _Spacing()
_STEMS = _Stems()
