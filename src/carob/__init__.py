"""Carob measures AI agents against golden data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from carob.api import (
        calibrate,
        capture,
        check,
        checkout,
        compare,
        convert,
        diff,
        load,
        read_traces,
        release,
        run,
        save,
        score,
        subset,
        summarise,
        validate,
    )
    from carob.errors import CarobError
    from carob.schema import (
        Case,
        Dataset,
        Failed,
        Rubric,
        Score,
        ToolCall,
        ToolResult,
        Trace,
        Turn,
        Unscored,
    )

__all__ = [
    "CarobError",
    "Case",
    "Dataset",
    "Failed",
    "Rubric",
    "Score",
    "ToolCall",
    "ToolResult",
    "Trace",
    "Turn",
    "Unscored",
    "calibrate",
    "capture",
    "check",
    "checkout",
    "compare",
    "convert",
    "diff",
    "load",
    "read_traces",
    "release",
    "run",
    "save",
    "score",
    "subset",
    "summarise",
    "validate",
]

_HOMES = {"carob.errors": {"CarobError"}, "carob.api": {name for name in __all__ if name.islower()}}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for, so that `carob --help` imports none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'carob' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "carob.schema")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
