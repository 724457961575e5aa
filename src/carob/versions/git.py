"""Read the commit, branch and user from git, if the folder is in a repository, and recognize merge
conflicts."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

_TIMEOUT = 10
_CONFLICT = re.compile(rb"^<{7} .*^={7}\r?$.*^>{7} ", re.MULTILINE | re.DOTALL)
CONFLICT = "has an unresolved git merge conflict"
CONFLICT_HINT = (
    "two branches released this dataset: take the registry of one branch"
    " (`git checkout --theirs …`), then release the changes of the other again"
)


def current_commit(folder: Path) -> str | None:
    """The commit that is checked out, if any."""
    return _run_git(folder, "rev-parse", "--verify", "--quiet", "HEAD")


def current_branch(folder: Path) -> str | None:
    """The branch that is checked out; `None` for a detached head."""
    return _run_git(folder, "symbolic-ref", "--short", "--quiet", "HEAD")


def user_name(folder: Path) -> str | None:
    """The configured user name."""
    return _run_git(folder, "config", "user.name")


def has_conflict(data: bytes) -> bool:
    """Whether a file contains the markers of a merge conflict."""
    return _CONFLICT.search(data) is not None


def _run_git(folder: Path, *arguments: str) -> str | None:
    path = folder.resolve()
    if not any((parent / ".git").exists() for parent in (path, *path.parents)):
        return None
    try:
        result = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", *arguments],  # noqa: S607 - whichever git the user has
            cwd=path,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    if result.returncode != 0:
        return None
    return result.stdout.decode(errors="replace").strip() or None
