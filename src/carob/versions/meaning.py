"""When two values mean the same. Nothing is guessed: a typo cannot be told from another word
without knowing the language (`legal` and `illegal` are two letters apart), so that only what no
reader can see counts as the same: white space, Unicode composition, the style of quotation marks.
"""

from __future__ import annotations

from unicodedata import normalize

from carob.schema import Json

_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})


def text(value: str) -> str:
    """The text as far as it has meaning."""
    return " ".join(normalize("NFC", value).translate(_TYPOGRAPHY).split())


def meaning(value: Json) -> Json:
    """The value with all its texts as far as they have meaning."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list):
        return [meaning(item) for item in value]
    if isinstance(value, dict):
        return {key: meaning(item) for key, item in value.items()}
    return value


def equal(old: Json, new: Json) -> bool:
    """Equality of JSON values: `1` is `1.0`, and in contrast to Python it is not `true`."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(equal(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(equal, old, new))
    return old == new


def shown(text: str) -> str:
    """An id in a message: as it is, unless it could command the terminal."""
    return text if text.isprintable() else ascii(text)
