"""Decide whether two values mean the same.

Only differences that no reader can see are ignored: white space, Unicode composition, the style of
quotation marks. `wording` decides about typos in expected answers.
"""

from __future__ import annotations

from unicodedata import normalize

from carob.schema import Json

_TYPOGRAPHY = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "…": "..."})


def normalize_text(value: str) -> str:
    """Normalize white space, Unicode composition and quotation marks."""
    return " ".join(normalize("NFC", value).translate(_TYPOGRAPHY).split())


def normalize_value(value: Json) -> Json:
    """Normalize all texts in a value."""
    if isinstance(value, str):
        return normalize_text(value)
    if isinstance(value, list):
        return [normalize_value(item) for item in value]
    if isinstance(value, dict):
        return {key: normalize_value(item) for key, item in value.items()}
    return value


def escape_unprintable(text: str) -> str:
    """Escape an id for a message if it contains control characters."""
    return text if text.isprintable() else ascii(text)
