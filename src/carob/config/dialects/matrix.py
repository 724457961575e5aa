"""The `[matrix]` tables of `carob.toml`: an axis each, from names to values."""

from __future__ import annotations

from pathlib import Path

from carob.config.dialects.target_name import read_target_name
from carob.config.table_reader import Table, path_inside
from carob.schema import Json
from carob.schema.judge import names_weights

_ASKED = "a run of this cell executes this code, or sends the golden questions to this address"
_WEIGHTS = "native code loads this file as a model"
_OPTION = "a setting of the target in a run of this cell"


def read_matrix(matrix: Table, folder: Path) -> dict[str, dict[str, Json]]:
    """Read the axes. What needs trust and has none is left out, and is among the withheld settings
    of the config."""
    axes: dict[str, dict[str, Json]] = {}
    for axis, table in matrix.tables():
        if not table.entries():
            raise matrix.error(axis, "expected at least one value", hint='such as `good = "…"`')
        axes[axis] = {
            name: value
            for name in table.entries()
            if (value := _value(axis, name, table, folder)) is not None
        }
        table.close()
    return axes


def _value(axis: str, name: str, table: Table, folder: Path) -> Json:
    if axis == "target":
        return read_target_name(table, name, effect=_ASKED)
    if axis in ("model", "prompt") or axis.startswith("option."):
        return table.sensitive(name, effect=_OPTION)
    if axis == "traces":
        path = table.text(name)
        return None if path is None else path_inside(table, name, path, folder)
    if axis in ("judge", "profile"):
        value = table.text(name)
        if axis == "judge" and value is not None and names_weights(value):
            file = value.partition(":")[2]
            return table.sensitive(name, effect=_WEIGHTS, file=file)
        return value
    return table.value(name)
