"""Test sets of Ragas: `user_input` and `reference`, or in older versions `question`, `contexts` and
`ground_truth`.
"""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape, has_any
from carob.datasets.patch import Object

_NAMES = RowNames(
    input=("user_input", "question"),
    expected=("reference", "ground_truth"),
    context=("reference_contexts",),
    retrieved=("retrieved_contexts", "contexts"),
    recorded=("response", "answer"),
    tool_calls=("reference_tool_calls",),
)


class RagasFormat(RowFormat):
    name = "ragas"
    recognized_by = (
        "rows with `user_input` and `reference` or `reference_contexts`, or `question` with "
        "`contexts` and `ground_truth`"
    )
    names = _NAMES
    writable = False
    shape = declare_shape("RagasSample", _NAMES)

    def claims_row(self, row: Object) -> bool:
        if "user_input" in row:
            return has_any(row, "reference", "reference_contexts", "retrieved_contexts")
        return "question" in row and "contexts" in row and "ground_truth" in row
