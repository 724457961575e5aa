"""Golden data by its release, in place of a path: `support@1.2.0`, `support@^1`."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from karat.errors import RefusedError, UsageError
from karat.versions.registry import Registry, Released
from karat.versions.verify import check_files

REGISTRY = Path("golden") / "registry"
_REFERENCE = re.compile(r"[^/\\]+@(latest|[\^~]?v?\d+(\.\d+){0,2})")


def referenced(source: str | PathLike[str], registry: Path = REGISTRY) -> Released | None:
    """The release that is meant; `None` for whatever reads like a path, or is one."""
    if not _REFERENCE.fullmatch(str(source)) or Path(source).exists():
        return None
    return intact(Registry(registry).find(str(source)))


def intact(one: Released) -> Released:
    """The release, if it is as it was released; nothing is built on one that was touched."""
    problem = next(check_files(one), None)
    if problem:
        raise RefusedError(problem.message, where=problem.where, hint=problem.hint)
    return one


def own_file(source: str | PathLike[str]) -> Path:
    """The path of a file that may be written."""
    if referenced(source):
        hint = f"`karat checkout {source}` makes a copy that may be edited"
        raise UsageError(f"{source} is a release, which never changes", hint=hint)
    return Path(source)
