"""What git knows of the moment. It is asked only where there is a repository, and only to read."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_PATIENCE = 10


def commit(folder: Path) -> str | None:
    """The commit that is checked out."""
    return _ask(folder, "rev-parse", "--verify", "--quiet", "HEAD")


def branch(folder: Path) -> str | None:
    """The branch that is checked out; `None` if only a commit is."""
    return _ask(folder, "symbolic-ref", "--short", "--quiet", "HEAD")


def user(folder: Path) -> str | None:
    """The name that git signs commits with."""
    return _ask(folder, "config", "user.name")


def _ask(folder: Path, *words: str) -> str | None:
    place = folder.resolve()
    if not any((parent / ".git").exists() for parent in (place, *place.parents)):
        return None
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", *words],  # noqa: S607 - whichever git the user has
            cwd=place,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode(errors="replace").strip() or None if done.returncode == 0 else None
