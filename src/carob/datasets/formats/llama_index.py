"""Labelled RAG datasets of LlamaIndex: `examples` with `query` and `reference_answer`."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape, has_any
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("query",),
    expected=("reference_answer",),
    context=("reference_contexts",),
)


class LlamaIndexFormat(RowFormat):
    name = "llama-index"
    recognized_by = (
        "an object `examples` whose items have `query` and `reference_answer` or "
        "`reference_contexts`"
    )
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("document",)
    items_keys = ("examples",)
    shape = declare_shape("LabelledRagExample", _NAMES, ("examples",))

    def claims_row(self, row: Object) -> bool:
        return "query" in row and has_any(row, "reference_answer", "reference_contexts")
