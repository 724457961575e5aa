"""Evals of agent skills: `evals.json` with `skill_name` and `evals`.

`expected_output` describes success in words. It is a rubric for a judge, not an answer to match.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from carob.datasets.formats import list_key
from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape, has_any
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import Case, Json, Rubric

_NAMES = RowNames(
    input=("prompt", "prompt_template", "query", "input", "task", "question", "user_prompt"),
    rubrics=("expectations", "assertions", "expected_behavior", "expected_behaviors"),
    tags=("tags",),
)
_EXPECTED = "expected_output"
_KEYS = ("evals", "test_cases", "cases")


class SkillEvalsFormat(RowFormat):
    name = "skill-evals"
    recognized_by = (
        "an object with `skill_name` and `evals`, or rows with `prompt` and `assertions`"
    )
    names = _NAMES
    containers: tuple[Container, ...] = ("document", "list", "rows")
    items_keys: tuple[str, ...] = _KEYS
    name_key: ClassVar[str | None] = "skill_name"
    shape = declare_shape("SkillEval", _NAMES, _KEYS)

    def claims_row(self, row: Object) -> bool:
        return has_any(row, "prompt", "prompt_template") and (
            has_any(row, "expectations", "assertions", "expected_behavior", "expected_behaviors")
            or (_EXPECTED in row and "files" in row)
        )

    def claims(self, sample: Json) -> bool:
        key = list_key(sample, _KEYS)
        if isinstance(sample, dict) and key and {"skill_name", "skill"} & sample.keys():
            return isinstance(sample[key], list)
        # Under the other keys, people list plain rows as well.
        return key in (None, _KEYS[0]) and super().claims(sample)

    def read_case(self, doc: Json) -> Case:
        row = doc if isinstance(doc, dict) else {}
        case = super().read_case({key: row[key] for key in row if key != _EXPECTED})
        text = row.get(_EXPECTED)
        if not isinstance(text, str) or not text:
            return case
        return msgspec.structs.replace(
            case, rubrics=(Rubric(id=_EXPECTED, text=text), *case.rubrics)
        )

    def write_case(self, case: Case) -> Json:
        first = case.rubrics[0] if case.rubrics and case.rubrics[0].id == _EXPECTED else None
        rest = case.rubrics[1:] if first else case.rubrics
        metadata = {key: value for key, value in case.metadata.items() if key != _EXPECTED}
        row = super().write_case(msgspec.structs.replace(case, rubrics=rest, metadata=metadata))
        return {**row, _EXPECTED: first.text} if first and isinstance(row, dict) else row
