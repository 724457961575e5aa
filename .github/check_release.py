"""Check that a tag, the version of the package and the changelog agree."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def release_errors(tag: str, root: Path = ROOT) -> list[str]:
    """Return what is wrong with a release, nothing if it can be published."""
    version = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    errors: list[str] = []
    if tag != f"v{version}":
        errors.append(f"the tag is {tag!r}, but pyproject.toml has version {version!r}")
    if not re.search(rf"^## \[?{re.escape(version)}\]? ", changelog, re.MULTILINE):
        errors.append(f"CHANGELOG.md has no section '## {version} (DATE)'")
    return errors


if __name__ == "__main__":
    problems = release_errors(sys.argv[1])
    sys.stderr.writelines(f"error: {problem}\n" for problem in problems)
    sys.exit(1 if problems else 0)
