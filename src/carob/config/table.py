"""A table of a document, read key by key: what nobody asked for is an error, not ignored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from carob.config.document import Document
from carob.errors import FormatError
from carob.schema import Json
from carob.text.spelling import fold, meant, nearest


class Table:
    """Keys may be written in snake_case or camelCase; `null` is "not stated"."""

    def __init__(self, document: Document, value: Mapping[str, Json], place: str = "") -> None:
        self._document = document
        self._value = value
        self._place = place
        self._asked: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        value = self._take(name)
        if value is not None and not isinstance(value, str):
            raise self._mistyped(name, "text", value)
        return value

    def flag(self, name: str) -> bool | None:
        value = self._take(name)
        if value is not None and not isinstance(value, bool):
            raise self._mistyped(name, "true or false", value)
        return value

    def number(self, name: str) -> float | None:
        value = self._take(name)
        return None if value is None else self._number(name, value)

    def count(self, name: str) -> int | None:
        """A whole number from 1 on."""
        value = self._take(name)
        if value is None or (type(value) is int and value > 0):
            return value
        raise self._mistyped(name, "a whole number from 1 on", value)

    def numbers(self, name: str) -> tuple[float, ...]:
        items = enumerate(self.items(name))
        return tuple(self._number(f"{name}[{index}]", item) for index, item in items)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; one text may stand alone."""
        value = self._take(name)
        items = enumerate([value] if isinstance(value, str) else self.items(name))
        return tuple(self._text(f"{name}[{index}]", item) for index, item in items)

    def items(self, name: str) -> tuple[Json, ...]:
        value = self._take(name)
        if value is not None and not isinstance(value, list):
            raise self._mistyped(name, "a list", value)
        return tuple(value or ())

    def table(self, name: str) -> Table | None:
        value = self._take(name)
        return None if value is None else self._table(name, value)

    def tables(self, *, without: str | None = None) -> Iterator[tuple[str, Table]]:
        """Each entry of a table whose keys are names of the user's own, but those that start as
        `without`."""
        names = (name for name in self._value if not without or not name.startswith(without))
        return ((name, self._table(name, self._value[name])) for name in names)

    def rows(self, name: str) -> Iterator[Table]:
        """Each table of a list of tables."""
        items = enumerate(self.items(name))
        return (self._table(f"{name}[{index}]", item) for index, item in items)

    def entries(self) -> dict[str, Json]:
        """All of it, as it is written."""
        return dict(self._value)

    def rest(self) -> dict[str, Json]:
        """What was not asked for, as it is written: parameters that somebody else checks."""
        return {key: self._value[key] for key in self._value if fold(key) not in self._asked}

    def missing(self, name: str) -> FormatError:
        """The error for a key that must be there and is not."""
        near = next((key for key in self.rest() if nearest(key, [name])), None)
        hint = f"did you mean it by {near!r}?" if near else None
        return FormatError(f"{name!r} is missing", where=self.where(), hint=hint)

    def close(self) -> None:
        """Every key must have been asked for."""
        for key in self.rest():
            known = [*self._asked.values()]
            hint = meant(key, known) or f"known: {', '.join(known)}"
            raise self.error(key, f"unknown key {key!r}", hint=hint)

    def close_loosely(self) -> None:
        """No key that was not asked for may look like a misspelt one; others pass."""
        for key in self.rest():
            hint = meant(key, self._asked.values(), cutoff=0.8)
            if hint:
                raise self.error(key, f"unknown key {key!r}", hint=hint)

    def error(self, name: str, message: str, *, hint: str | None = None) -> FormatError:
        """The error for the value of a key."""
        return FormatError(message, where=self.where(name), hint=hint)

    def where(self, name: str | None = None) -> str:
        """The place of the table, or of a key in it."""
        return self._document.where(self._place if name is None else self._at(name))

    def _at(self, name: str) -> str:
        key, bracket, index = name.partition("[")
        written = name if name in self._value else (self._spelt(key) or [key])[0] + bracket + index
        return f"{self._place}.{written}" if self._place else written

    def _spelt(self, name: str) -> list[str]:
        """The keys that are the name, in whatever spelling."""
        return [key for key in self._value if fold(key) == fold(name)]

    def _take(self, name: str) -> Json:
        self._asked[fold(name)] = name
        spelt = self._spelt(name)
        if len(spelt) > 1:
            raise self.error(spelt[1], f"{spelt[0]!r} and {spelt[1]!r} are the same key")
        return self._value[spelt[0]] if spelt else None

    def _table(self, name: str, value: Json) -> Table:
        if not isinstance(value, dict):
            raise self._mistyped(name, "a table", value)
        return Table(self._document, value, self._at(name))

    def _text(self, name: str, value: Json) -> str:
        if not isinstance(value, str):
            raise self._mistyped(name, "text", value)
        return value

    def _number(self, name: str, value: Json) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._mistyped(name, "a number", value)
        return float(value)

    def _mistyped(self, name: str, expected: str, value: Json) -> FormatError:
        return self.error(name, f"expected {expected}, got {value!r:.60}")
