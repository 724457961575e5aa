"""Samples of Inspect: `input` and `target`, with optional choices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape
from carob.datasets.patch import Object
from carob.schema import Case, Json, Problem

_NAMES = RowNames(
    input=("input",),
    expected=("target",),
    metadata=("metadata",),
)


class InspectFormat(RowFormat):
    name = "inspect"
    recognized_by = "rows with `input` and `target`"
    names = _NAMES
    shape = declare_shape("InspectSample", _NAMES)

    def check(self, item: Json) -> Iterator[Problem]:
        yield from super().check(item)
        if isinstance(item, dict) and item.get("target") is None:
            yield Problem(where="$", message="missing field 'target'", hint="add the answer")

    def write_cells(self, case: Case) -> Json:
        # Inspect reads the metadata of every row as JSON, and an empty cell is not.
        return {"metadata": "{}", **cast("Object", super().write_cells(case))}

    def claims_row(self, row: Object) -> bool:
        return {"input", "target"} <= row.keys()
