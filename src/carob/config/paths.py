"""Paths in a config.

URLs are not followed. Paths in `carob.toml` must stay inside its folder: the file is picked up
automatically, and may come with a repository that somebody else wrote.
"""

from __future__ import annotations

import re
from pathlib import Path

from carob.config.table_reader import Table

_GLOB = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][\w+.-]+:")


def local_path(table: Table, name: str, value: str) -> str:
    """Return a path. Raises `FormatError` for a URL."""
    if _URL.match(value):
        raise table.error(name, f"expected a path, got {value!r}", hint="URLs are not supported")
    return value


def path_inside(table: Table, name: str, value: str, folder: Path) -> str:
    """Return a path inside the folder of the config, relative to the working directory."""
    path = folder / local_path(table, name, value)
    if not path.resolve().is_relative_to(folder.resolve()):
        message = f"{value!r} is outside of the folder of the config"
        raise table.error(name, message, hint="pass it on the command line instead")
    return str(path)


def expand_pattern(table: Table, name: str, value: str, folder: Path) -> list[str]:
    """Return the sorted paths that match a pattern such as `traces/*.json`, or the path itself."""
    pattern = path_inside(table, name, value, folder)
    if not _GLOB.search(value):
        return [pattern]
    found = sorted(str(path) for path in folder.glob(value) if path.is_file())
    if not found:
        raise table.error(name, f"no file matches {value!r}")
    return [path_inside(table, name, str(Path(path).relative_to(folder)), folder) for path in found]
