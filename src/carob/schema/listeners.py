"""Who is told of what happens while work goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from carob.schema.problem import Problem

Progress: TypeAlias = Callable[[int, int], None]
"""Told how much of how much is done."""
Report: TypeAlias = Callable[[Problem], None]
"""Told each problem."""


def nobody(*_told: object) -> None:
    """Listens to nothing."""
