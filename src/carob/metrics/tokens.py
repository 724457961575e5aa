"""Words of a text, for every metric that counts words; as ADK's `response_match_score` sees them.

Scripts written without blanks are split into characters, or clusters of a letter and its marks.
"""

from __future__ import annotations

from unicodedata import category, normalize

from carob.metrics.stem import stem

_OWN_TOKEN = ((0x4E00, 0x9FFF), (0x3040, 0x309F), (0x30A0, 0x30FF), (0xAC00, 0xD7AF))
_OPENS_TOKEN = ((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1780, 0x17FF), (0x1000, 0x109F))

_MOST = 1 << 17  # entries, then it starts anew: texts of random words must not fill the memory
_LONGEST = 64  # letters of a word worth remembering


class _Spacing(dict[int, str]):
    """What `str.translate` puts in place of each character, found out once per character."""

    def __missing__(self, code: int) -> str:
        if len(self) >= _MOST:
            self.clear()
        self[code] = spaced = _spaced(code)
        return spaced


class _Stems(dict[str, str]):
    """Tokens by word. Texts share most of their words, and stemming is what costs."""

    def __missing__(self, word: str) -> str:
        token = stem(word) if len(word) > 3 and word.isascii() else word
        if len(word) <= _LONGEST:
            if len(self) >= _MOST:
                self.clear()
            self[word] = token
        return token


def words(text: str) -> list[str]:
    """The lower-case words of a text, unstemmed."""
    if not text.isascii():
        text = normalize("NFKC", text)
    return text.lower().translate(_SPACING).split()


def tokens(text: str) -> list[str]:
    """The words of a text, those of ASCII letters stemmed."""
    return [_STEMS[word] for word in words(text)]


def token(word: str) -> str:
    """The stem of a lower-case word."""
    return _STEMS[word]


def _spaced(code: int) -> str:
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
