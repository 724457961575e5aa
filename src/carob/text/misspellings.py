"""Known misspellings, from the word list of codespell. The list covers English only."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

LANGUAGE = "en"


@cache
def misspellings() -> dict[str, str]:
    """Return misspelled words in lower case with their only correction; empty if codespell is not
    installed."""
    spec = find_spec("codespell_lib")
    if spec is None or spec.origin is None:
        return {}
    file = Path(spec.origin).parent / "data" / "dictionary.txt"
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError:
        return {}
    # A comma separates alternatives, or a note on why the word may be right.
    pairs = (line.partition("->") for line in lines if "," not in line)
    return {wrong.strip(): right.strip() for wrong, _, right in pairs if right.strip()}
