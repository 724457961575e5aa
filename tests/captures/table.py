"""The table of recordings, cell by cell: `captures.toml` and, for Node, `javascript.toml`."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLES = [Path(__file__).parent / name for name in ("captures.toml", "javascript.toml")]


@dataclass(frozen=True)
class Cell:
    """One recording: a framework, what records it, and a scenario with options."""

    framework: str
    table: dict[str, Any]
    recorder: str
    scenario: str
    options: tuple[str, ...]

    @property
    def name(self) -> str:
        return "-".join((self.framework, self.recorder, self.scenario, *self.options))

    @property
    def settings(self) -> dict[str, Any]:
        return self.table["recorders"][self.recorder]

    @property
    def not_recorded(self) -> list[str]:
        """The fields that this recorder does not record in this scenario."""
        fields = list(self.settings.get("lacks", ()))
        for option in (*self.options, self.scenario):
            fields += self.settings.get(f"{option}_lacks", ())
        return sorted(set(fields))


def list_cells(patterns: list[str]) -> Iterator[Cell]:
    """Yield the recordings of the table whose names match a pattern."""
    tables = (item for path in TABLES for item in tomllib.loads(path.read_text()).items())
    for framework, table in tables:
        for recorder, settings in table["recorders"].items():
            for entry in settings["scenarios"]:
                scenario, *options = entry.split("+")
                cell = Cell(framework, table, recorder, scenario, tuple(options))
                if any(fnmatch.fnmatch(cell.name, pattern) for pattern in patterns):
                    yield cell
