"""Golden formats: what a format must say of itself.

`claims` looks at the document, or at the first row, and never raises: a broken file of a format is
still that format's file, and to say what is broken is the business of `cases` and `check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, runtime_checkable

from carob.datasets.document_types import kind
from carob.datasets.lens import Lens
from carob.datasets.source import Container
from carob.errors import FormatError
from carob.schema import Case, Dataset, Json, Problem


class Format(Protocol):
    """One way to write golden data down."""

    name: str
    sought: str
    """What a file of this format is recognised by, in words."""
    containers: tuple[Container, ...]
    """The containers it comes in, the usual one first."""
    writable: bool
    derives_ids: bool
    """Whether its cases have no ids of their own."""
    items_keys: tuple[str, ...]
    """The keys under which a document may list its cases; none if the document is that list."""
    shape: type
    """The declared shape of a document, or of a row."""

    def claims(self, sample: Json) -> bool:
        """Is a file with this document, or this first row, one of ours?"""
        ...

    def items(self, document: Json) -> list[Json]:
        """The cases in a document."""
        ...

    def cases(self, container: Container) -> Lens[Case]:
        """How a case is written."""
        ...

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        """How all but the cases is written; `stem` is the name of the file."""
        ...

    def check(self, item: Json) -> Iterator[Problem]:
        """What is wrong with a case beyond its shape."""
        ...


@runtime_checkable
class ChecksFrame(Protocol):
    """A format with rules for all but the cases."""

    def check_frame(self, frame: Json, path: Path) -> Iterator[Problem]:
        """What is wrong with the document apart from its cases, or with its name."""
        ...


def list_key(document: Json, keys: tuple[str, ...]) -> str | None:
    """The key under which a document lists its cases."""
    found = (key for key in keys if isinstance(document, dict) and key in document)
    return next(found, None)


def listed(document: Json, keys: tuple[str, ...]) -> list[Json]:
    """The cases that a document lists under one of the keys."""
    key = list_key(document, keys) or keys[0]
    found = document.get(key) if isinstance(document, dict) else None
    if not isinstance(found, list):
        raise FormatError(f"found {kind(found)}, expected a list of cases", where=f"$.{key}")
    return found
