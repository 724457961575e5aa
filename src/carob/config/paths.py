"""Paths in a config. No address is followed; and `carob.toml`, which is found without being asked
for and may come with a repository that somebody else wrote, reaches only into its own folder."""

from __future__ import annotations

import re
from pathlib import Path

from carob.config.table import Table

_GLOB = re.compile(r"[*?\[]")
_URL = re.compile(r"[A-Za-z][\w+.-]+:")


def local(table: Table, name: str, value: str) -> str:
    """The path of a key's value, which must not be an address."""
    if _URL.match(value):
        raise table.error(name, f"expected a path, got {value!r}", hint="no URL is followed")
    return value


def inside(table: Table, name: str, value: str, folder: Path) -> str:
    """The path of a key's value, seen from where the user is."""
    path = folder / local(table, name, value)
    if not path.resolve().is_relative_to(folder.resolve()):
        message = f"{value!r} is not in the folder of the config"
        raise table.error(name, message, hint="give it on the command line instead")
    return str(path)


def matching(table: Table, name: str, value: str, folder: Path) -> list[str]:
    """The paths that a pattern such as `traces/*.json` stands for, sorted; a plain path is one."""
    pattern = inside(table, name, value, folder)
    if not _GLOB.search(value):
        return [pattern]
    found = sorted(str(path) for path in folder.glob(value) if path.is_file())
    if not found:
        raise table.error(name, f"no file matches {value!r}")
    return [inside(table, name, str(Path(path).relative_to(folder)), folder) for path in found]
