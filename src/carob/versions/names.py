"""Folder names for datasets, whatever they are called."""

from __future__ import annotations

import re
from hashlib import blake2b
from unicodedata import normalize

_LONGEST = 60
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)")
"""What Windows takes for a device."""


def folders(name: str) -> tuple[str, ...]:
    """The folders that a dataset may have, the one to be preferred first. Another dataset may have
    the same first one; the last is for this name only."""
    plain = normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    short = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].strip("-")
    mark = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    own = f"{short or 'dataset'}-{mark}"
    return (own,) if not short or _RESERVED.fullmatch(short) else (short, own)
