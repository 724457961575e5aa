"""Samples of OpenAI evals: `input` as messages or text, and `ideal`; or objects under `item`."""

from __future__ import annotations

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape
from carob.datasets.patch import Object
from carob.datasets.source import Container

_NAMES = RowNames(
    input=("input", "item"),
    expected=("ideal",),
    metadata=("metadata",),
)


class OpenAIEvalsFormat(RowFormat):
    name = "openai-evals"
    recognized_by = "rows with `input` and `ideal`, or with an object `item`"
    names = _NAMES
    writable = False
    containers: tuple[Container, ...] = ("rows", "list")
    shape = declare_shape("OpenAISample", _NAMES)

    def claims_row(self, row: Object) -> bool:
        return {"input", "ideal"} <= row.keys() or isinstance(row.get("item"), dict)
