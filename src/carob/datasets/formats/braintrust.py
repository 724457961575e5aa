"""Rows exported from Braintrust datasets."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("input",),
    expected=("expected",),
    tags=("tags",),
    metadata=("metadata",),
)


class BraintrustFormat(RowFormat):
    name = "braintrust"
    recognized_by = (
        "rows with `input` and `expected`, and `dataset_id`, `_xact_id`, `root_span_id` or "
        "`span_id`"
    )
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("rows", "list", "table")
    shape = declare_shape("BraintrustRow", _NAMES)

    def claims_row(self, row: Object) -> bool:
        signs = {"dataset_id", "_xact_id", "root_span_id", "span_id"}
        return "input" in row and bool(signs & row.keys())
