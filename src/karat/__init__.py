"""Karat measures AI agents against golden data."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from karat.api import (
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
    from karat.errors import KaratError
    from karat.schema import (
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
    "Case",
    "Dataset",
    "Failed",
    "KaratError",
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

_HOMES = {"karat.errors": {"KaratError"}, "karat.api": {name for name in __all__ if name.islower()}}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is asked for, so that `karat --help` imports none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'karat' has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "karat.schema")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__
