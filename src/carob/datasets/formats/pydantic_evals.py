"""Datasets of pydantic-evals: `cases` with `inputs`, `expected_output` and `evaluators`."""

from __future__ import annotations

from typing import ClassVar, cast

import msgspec

from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import Case, Json, Rubric

_NAMES = RowNames(
    input=("inputs",), expected=("expected_output",), id=("name",), metadata=("metadata",)
)
_JUDGE = "LLMJudge"


class PydanticEvalsFormat(RowFormat):
    name = "pydantic-evals"
    recognized_by = "an object with `cases` whose items have `inputs`"
    names = _NAMES
    containers: tuple[Container, ...] = ("document",)
    items_keys = ("cases",)
    name_key: ClassVar[str | None] = "name"
    shape = declare_shape("EvalsCase", _NAMES, ("cases",))

    def claims_row(self, row: Object) -> bool:
        return "inputs" in row and "cases" not in row and "outputs" not in row

    def claims(self, sample: Json) -> bool:
        if not isinstance(sample, dict) or "cases" not in sample:
            return False
        return sample["cases"] == [] or super().claims(sample)

    def read_case(self, doc: Json) -> Case:
        row = doc if isinstance(doc, dict) else {}
        case = super().read_case({key: row[key] for key in row if key != "evaluators"})
        evaluators = row.get("evaluators")
        texts = (
            [_read_rubric(value) for value in evaluators] if isinstance(evaluators, list) else []
        )
        rubrics = [
            Rubric(id=f"{_JUDGE}-{number}", text=text)
            for number, text in enumerate(filter(None, texts), 1)
        ]
        return msgspec.structs.replace(case, rubrics=tuple(rubrics))

    def write_case(self, case: Case) -> Json:
        row = cast("Object", super().write_case(msgspec.structs.replace(case, rubrics=())))
        judges: list[Json] = [{_JUDGE: rubric.text} for rubric in case.rubrics]
        return {**row, "evaluators": judges} if judges else row


def _read_rubric(evaluator: Json) -> str | None:
    """The rubric of an `LLMJudge`, in its short or its long form."""
    value = evaluator.get(_JUDGE) if isinstance(evaluator, dict) else None
    if isinstance(value, dict):
        value = value.get("rubric")
    return value if isinstance(value, str) else None
