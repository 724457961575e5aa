"""Entry points: the built-in formats come through the same door as anybody else's."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from karat.datasets.formats import Format
from karat.errors import UsageError


@cache
def formats() -> tuple[Format, ...]:
    """Every golden format that is installed, by name."""
    found = sorted(entry_points(group="karat.formats"), key=lambda point: point.name)
    names = [point.name for point in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UsageError(f"two installed packages bring a format {twice!r}")
    return tuple(point.load()() for point in found)
