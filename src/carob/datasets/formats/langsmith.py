"""Examples exported from LangSmith: `inputs` and `outputs`, both objects."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("inputs",),
    expected=("outputs",),
    metadata=("metadata",),
)


class LangSmithFormat(RowFormat):
    name = "langsmith"
    recognized_by = "rows with `inputs` and `outputs`"
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("rows", "list")
    shape = declare_shape("LangSmithExample", _NAMES)

    def claims_row(self, row: Object) -> bool:
        return {"inputs", "outputs"} <= row.keys()
