"""Rows for Azure AI evaluation: `query`, with `response`, `context` or `ground_truth`."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape, has_any
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("query",),
    expected=("ground_truth",),
    context=("context",),
    recorded=("response",),
    recorded_calls=("tool_calls",),
)


class AzureFormat(RowFormat):
    name = "azure"
    recognized_by = "rows with `query` and `response` or `ground_truth`"
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("rows", "list", "table")
    shape = declare_shape("AzureRow", _NAMES)

    def claims_row(self, row: Object) -> bool:
        return "query" in row and has_any(row, "response", "ground_truth")
