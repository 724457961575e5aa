"""The stored recordings, each with the truth about its run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from tests.captures.table import Cell, list_cells

FOLDER = Path(__file__).parent / "recordings"


class TrueTurn(msgspec.Struct, frozen=True):
    """What happened in one turn."""

    user: str
    response: str | None
    failed: bool
    """Whether the framework raised an error instead of answering."""
    calls: list[dict[str, Any]]
    """Each with `name`, `args` and `agent`, in the order of the model."""
    results: list[dict[str, Any]]
    """Each with `name`, `text` and `failed`; results of hand-overs are left out."""
    agents: list[str]
    models: list[str]
    model_calls: int
    tokens: dict[str, int]


class Recording(msgspec.Struct, frozen=True):
    """What a recorder exported for one run of a framework."""

    cell: Cell
    path: Path
    turns: list[TrueTurn]

    def not_recorded(self, number: int) -> list[str]:
        """The fields that the recorder does not record in a turn; `tokens@2` is of the second."""
        fields = (field.partition("@") for field in self.cell.not_recorded)
        return [name for name, _, turn in fields if not turn or int(turn) == number]

    def __str__(self) -> str:
        return self.cell.name


def recordings(pattern: str = "*") -> list[Recording]:
    """Return the recordings of the table whose names match, without cells not yet recorded."""
    return [
        _load(cell)
        for cell in list_cells([pattern])
        if (FOLDER / f"{cell.name}.truth.json").exists()
    ]


def _load(cell: Cell) -> Recording:
    plain = FOLDER / f"{cell.name}.jsonl"
    path = plain if plain.exists() else plain.with_suffix(".jsonl.gz")
    truth = (FOLDER / f"{cell.name}.truth.json").read_bytes()
    return Recording(cell, path, msgspec.json.decode(truth, type=list[TrueTurn]))
