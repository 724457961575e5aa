"""Rows for the evaluation service of Vertex AI: `prompt` and a reference."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape, has_any
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("prompt",),
    expected=("reference", "reference_response"),
    context=("context",),
    recorded=("response",),
    tool_calls=("reference_trajectory", "expected_tool_use"),
    recorded_calls=("predicted_trajectory",),
    call_keys=("tool_name", "tool_input"),
)


class VertexFormat(RowFormat):
    name = "vertex"
    recognized_by = (
        "rows with `prompt` and `reference`, `reference_response` or `reference_trajectory`"
    )
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("rows", "list", "table")
    shape = declare_shape("VertexRow", _NAMES)

    def claims_row(self, row: Object) -> bool:
        return "prompt" in row and has_any(
            row, "reference", "reference_response", "reference_trajectory"
        )
