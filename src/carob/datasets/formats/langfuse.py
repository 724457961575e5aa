"""Items exported from Langfuse datasets."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("input",),
    expected=("expectedOutput",),
    metadata=("metadata",),
)


class LangfuseFormat(RowFormat):
    name = "langfuse"
    recognized_by = (
        "rows with `input` and `expectedOutput`, and `datasetName`, `datasetId` or `sourceTraceId`"
    )
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("list", "rows", "table", "document")
    items_keys = ("data",)
    shape = declare_shape("LangfuseItem", _NAMES, ("data",))

    def claims_row(self, row: Object) -> bool:
        return "input" in row and bool({"datasetName", "datasetId", "sourceTraceId"} & row.keys())
