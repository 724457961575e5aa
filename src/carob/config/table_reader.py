"""Read a table of a config file key by key, so that unknown keys are errors, and paths in it.

URLs are not followed, except for object storage in a config that is trusted. Paths in `carob.toml`
must stay inside its folder: the file is picked up automatically, and may come with a repository
that somebody else wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import inf
from pathlib import Path

import msgspec

from carob.config.config_file import ConfigDocument
from carob.config.trust import SensitiveReader
from carob.errors import FormatError
from carob.schema import Json, SensitiveSetting
from carob.text.spelling import did_you_mean, fold_name, nearest_name

_GLOB = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][\w+.-]+:")


class Table:
    """A table. Keys may be in snake_case or camelCase; `null` counts as missing."""

    def __init__(
        self,
        document: ConfigDocument,
        value: Mapping[str, Json],
        path: str = "",
        *,
        sensitive: SensitiveReader | None = None,
    ) -> None:
        self._document = document
        self._value = value
        self._path = path
        self._sensitive = sensitive or SensitiveReader()
        self._known: dict[str, str] = {}

    def text(self, name: str) -> str | None:
        value = self._take(name)
        if value is not None and not isinstance(value, str):
            raise self._type_error(name, "text", value)
        return value

    def sensitive(self, name: str, *, effect: str, file: str | None = None) -> str | None:
        """Return a text that names an address, a key, a command or code; `None` unless the user
        has trusted the config, and the content of `file`."""
        value = self.text(name)
        if value is None:
            return None
        return self._sensitive.admit(SensitiveSetting(self._at(name), value, effect, file))

    def sensitive_file(self, name: str, file: str, *, effect: str) -> str | None:
        """Return a file that the value of a key names; `None` unless the user has trusted the
        config, and the content of the file."""
        return self._sensitive.admit(SensitiveSetting(self._at(name), file, effect, file))

    def sensitive_value(self, name: str, value: str, *, effect: str) -> str | None:
        """Return one value of a list that needs trust, as `sensitive` does for texts."""
        return self._sensitive.admit(SensitiveSetting(self._at(name), value, effect))

    def sensitive_number(self, name: str, *, effect: str) -> float | None:
        """Return a number above 0 that needs trust, as `sensitive` does for texts."""
        value = self.number(name)
        if value is None:
            return None
        if not 0 < value < inf:
            raise self.error(name, f"expected a number above 0, got {value:g}")
        admitted = self._sensitive.admit(SensitiveSetting(self._at(name), f"{value:g}", effect))
        return None if admitted is None else value

    def sensitive_table(self, name: str, *, effect: str) -> dict[str, Json] | None:
        """Return the entries of a table that may name any of these; `None` unless the user has
        trusted the config."""
        table = self.table(name)
        if table is None:
            return None
        value = msgspec.json.encode(table.entries(), order="sorted").decode()
        setting = SensitiveSetting(self._at(name), value, effect)
        return None if self._sensitive.admit(setting) is None else table.entries()

    def flag(self, name: str) -> bool | None:
        value = self._take(name)
        if value is not None and not isinstance(value, bool):
            raise self._type_error(name, "true or false", value)
        return value

    def number(self, name: str) -> float | None:
        value = self._take(name)
        return None if value is None else self._number(name, value)

    def count(self, name: str) -> int | None:
        """Return a positive whole number."""
        value = self._take(name)
        if value is None or (type(value) is int and value > 0):
            return value
        raise self._type_error(name, "a positive whole number", value)

    def numbers(self, name: str) -> tuple[float, ...]:
        items = enumerate(self.items(name))
        return tuple(self._number(f"{name}[{index}]", item) for index, item in items)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts. A single text counts as a list."""
        value = self._take(name)
        items = enumerate([value] if isinstance(value, str) else self.items(name))
        return tuple(self._text(f"{name}[{index}]", item) for index, item in items)

    def items(self, name: str) -> tuple[Json, ...]:
        value = self._take(name)
        if value is not None and not isinstance(value, list):
            raise self._type_error(name, "a list", value)
        return tuple(value or ())

    def table(self, name: str) -> Table | None:
        value = self._take(name)
        return None if value is None else self._table(name, value)

    def tables(self, *, without: str | None = None) -> Iterator[tuple[str, Table]]:
        """Yield each entry of a table with user-defined keys, except those that start with
        `without`."""
        names = (name for name in self._value if not without or not name.startswith(without))
        return ((name, self._table(name, self._value[name])) for name in names)

    def rows(self, name: str) -> Iterator[Table]:
        """Yield each table of a list of tables."""
        items = enumerate(self.items(name))
        return (self._table(f"{name}[{index}]", item) for index, item in items)

    def entries(self) -> dict[str, Json]:
        """Return all entries as they are written."""
        return dict(self._value)

    def value(self, name: str) -> Json:
        """Return an entry as it is written, whatever its type."""
        return self._take(name)

    def rest(self) -> dict[str, Json]:
        """Return the entries that were not read, such as parameters that the metric checks."""
        return {key: self._value[key] for key in self._value if fold_name(key) not in self._known}

    def missing(self, name: str) -> FormatError:
        """Return the error for a missing required key."""
        near = next((key for key in self.rest() if nearest_name(key, [name])), None)
        hint = f"found {near!r}" if near else None
        return FormatError(f"missing key {name!r}", where=self.where(), hint=hint)

    def close(self) -> None:
        """Raise `FormatError` for the first key that was not read."""
        for key in self.rest():
            names = [*self._known.values()]
            hint = did_you_mean(key, names) or f"expected one of: {', '.join(names)}"
            raise self.error(key, f"unknown key {key!r}", hint=hint)

    def close_loosely(self) -> None:
        """Raise `FormatError` for a key that looks misspelled. Other unknown keys are allowed."""
        for key in self.rest():
            hint = did_you_mean(key, self._known.values(), cutoff=0.8)
            if hint:
                raise self.error(key, f"unknown key {key!r}", hint=hint)

    def error(self, name: str, message: str, *, hint: str | None = None) -> FormatError:
        """Return the error for the value of a key."""
        return FormatError(message, where=self.where(name), hint=hint)

    def where(self, name: str | None = None) -> str:
        """Return the location of the table, or of a key in it."""
        return self._document.where(self._path if name is None else self._at(name))

    def _at(self, name: str) -> str:
        key, bracket, index = name.partition("[")
        spelled = (self._spellings(key) or [key])[0]
        written = name if name in self._value else spelled + bracket + index
        return f"{self._path}.{written}" if self._path else written

    def _spellings(self, name: str) -> list[str]:
        """Return the keys that match a name, in snake_case or camelCase."""
        return [key for key in self._value if fold_name(key) == fold_name(name)]

    def _take(self, name: str) -> Json:
        self._known[fold_name(name)] = name
        keys = self._spellings(name)
        if len(keys) > 1:
            raise self.error(keys[1], f"duplicate key: {keys[0]!r} and {keys[1]!r}")
        return self._value[keys[0]] if keys else None

    def _table(self, name: str, value: Json) -> Table:
        if not isinstance(value, dict):
            raise self._type_error(name, "a table", value)
        return Table(self._document, value, self._at(name), sensitive=self._sensitive)

    def _text(self, name: str, value: Json) -> str:
        if not isinstance(value, str):
            raise self._type_error(name, "text", value)
        return value

    def _number(self, name: str, value: Json) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._type_error(name, "a number", value)
        return float(value)

    def _type_error(self, name: str, expected: str, value: Json) -> FormatError:
        return self.error(name, f"expected {expected}, got {value!r:.60}")


def local_path(table: Table, name: str, value: str) -> str:
    """Return a path. Raises `FormatError` for a URL."""
    if _URL.match(value):
        raise table.error(name, f"expected a path, got {value!r}", hint="URLs are not supported")
    return value


def path_inside(table: Table, name: str, value: str, folder: Path) -> str:
    """Return a path inside the folder of the config, relative to the working directory."""
    path = folder / local_path(table, name, value)
    if not is_inside(path, folder):
        message = f"{value!r} is outside of the folder of the config"
        raise table.error(name, message, hint="pass it on the command line instead")
    return str(path)


def is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path leads into a folder, after links are resolved."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # too long, a loop of links, or with a NUL
        return False


def expand_pattern(table: Table, name: str, value: str, folder: Path) -> list[str]:
    """Return the sorted paths that match a pattern such as `traces/*.json`, or the path itself."""
    pattern = path_inside(table, name, value, folder)
    if not _GLOB.search(value):
        return [pattern]
    matches = sorted(str(path) for path in folder.glob(value) if path.is_file())
    if not matches:
        raise table.error(name, f"no file matches {value!r}")
    # Each match is checked as well: a link inside the folder may lead outside.
    return [
        path_inside(table, name, str(Path(path).relative_to(folder)), folder) for path in matches
    ]
