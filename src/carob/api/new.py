"""Templates of plugins: a metric in one file, or a small package for the other kinds."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from carob.errors import OutputError, UsageError
from carob.files.atomic import write_atomic

KINDS = ("metric", "format", "container", "convention", "target")
_GROUPS = {kind: f"carob.{kind}s" for kind in KINDS}
_PROJECT = """[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "carob-{dashed}"
version = "0.1.0"
description = "The {kind} {name} for Carob."
requires-python = ">=3.11"
dependencies = ["carob"]

[project.entry-points."{group}"]
{name} = "{module}:{object}"

[tool.hatch.build.targets.wheel]
only-include = ["{module}.py"]
"""


def create_plugin(kind: str, name: str, folder: Path) -> list[Path]:
    """Write the template of a plugin, and return the new files. A metric is one file; the other
    kinds are a package with an entry point. Existing files are never replaced."""
    if kind not in KINDS:
        raise UsageError(f"unknown kind {kind!r}; expected one of: {', '.join(KINDS)}")
    if not name.isidentifier() or not name.islower():
        hint = "use lowercase letters, digits and underscores, such as friendly_tone"
        raise UsageError(f"invalid name {name!r}", hint=hint)
    files = _files(kind, name)
    paths = {folder / file: text for file, text in files.items()}
    for path in paths:
        if path.exists():
            raise OutputError("already exists", where=str(path), hint="choose another name")
    for path, text in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(path, text.encode())
    return [*paths]


def _files(kind: str, name: str) -> Mapping[str, str]:
    template = resources.files("carob.api") / "templates" / f"{kind}.txt"
    title = "".join(word.capitalize() for word in name.split("_"))
    text = template.read_text("utf-8").replace("NAME", name).replace("TITLE", title)
    if kind == "metric":
        return {f"{name}.py": text}
    module = f"carob_{name}"
    project = _PROJECT.format(
        dashed=name.replace("_", "-"),
        kind=kind,
        name=name,
        group=_GROUPS[kind],
        module=module,
        object=f"open_{name}" if kind == "target" else title,
    )
    return {f"{module}/pyproject.toml": project, f"{module}/{module}.py": text}
