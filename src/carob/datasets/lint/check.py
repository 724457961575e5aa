"""What a rule sees of a dataset, and what it says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol, TypeAlias

from carob.schema import Case, Dataset, Json

Path: TypeAlias = tuple[str | int, ...]
"""The way to a value in a document."""


class Place(NamedTuple):
    """A case in its file, for as long as somebody may have to point at it."""

    case: str | None
    base: Path = ()
    """The way to the case in its document; rows and tables have a line instead."""
    line: int | None = None
    silenced: frozenset[str] = frozenset()
    """The ids of the rules that the case does not want."""

    def __str__(self) -> str:
        return f"case {self.case!r}" if self.case else "the dataset"


WHOLE = Place(None)


class Item(NamedTuple):
    """A case, and the document that it was read from."""

    case: Case
    doc: Json
    place: Place


class Found(NamedTuple):
    """A rule that is not kept, before anybody asked whether it is silenced."""

    rule: str
    place: Place
    message: str
    hint: str | None = None
    path: Path = ()
    """Within the case."""
    span: tuple[int, int] | None = None
    """Offset and length in the text there."""


class Check(Protocol):
    """A family of rules. It sees every case once, in order, and then the end."""

    @property
    def rules(self) -> tuple[str, ...]: ...

    def see(self, item: Item) -> Iterable[Found]:
        """What is wrong with a case."""
        ...

    def end(self, head: Dataset, cases: int) -> Iterable[Found]:
        """What is wrong with the whole; `head` is the dataset without its cases."""
        ...


def texts(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every text in a document, and the way to it."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str | list | dict):
                yield from texts(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str | list | dict):
                yield from texts(item, (*path, key))


def path_of(doc: Json, text: str) -> Path:
    """The way to a text that is known to be somewhere; to the case itself if it is not found."""
    around: Path | None = None
    for path, other in texts(doc):
        if other == text:
            return path
        if around is None and text.strip() and text.strip() in other:
            around = path
    return around or ()
