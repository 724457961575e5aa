"""Contracts that ship as examples: JSON Schema files, one per name."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec


def examples() -> dict[str, dict[str, Any]]:
    """The example contracts by name, ready for the `contracts` parameter of the metric."""
    found = [file for file in files(__name__).iterdir() if file.name.endswith(".json")]
    return {
        file.name.removesuffix(".json"): msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        for file in sorted(found, key=lambda file: file.name)
    }
