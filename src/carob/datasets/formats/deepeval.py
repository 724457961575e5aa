"""Goldens of DeepEval: single turns with `input`, or conversations with `scenario`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, cast

import msgspec

from carob.datasets.formats.reference_data import without_nulls
from carob.datasets.formats.row_format import (
    RowFormat,
    RowNames,
    declare_shape,
    has_any,
    is_derived,
)
from carob.datasets.formats.row_values import EXPECTED_NAMES, parse_cell, read_turns
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import Case, Json, Problem, Rubric, Scenario, content_id

_NAMES = RowNames(
    input=("input",),
    expected=("expected_output",),
    id=("name",),
    context=("context",),
    retrieved=("retrieval_context",),
    recorded=("actual_output",),
    tool_calls=("expected_tools",),
    recorded_calls=("tools_called",),
    metadata=("additional_metadata",),
    call_keys=("name", "input_parameters"),
)
_OUTCOME = "expected_outcome"
_CONVERSATION = ("scenario", _OUTCOME, "user_description", "turns")
_OWN_SIGNS = (
    "tools_called",
    "additional_metadata",
    "source_file",
    "custom_column_key_values",
    "comments",
)
"""Fields that only goldens of DeepEval have."""
_SHARED_SIGNS = ("actual_output", "retrieval_context", "expected_tools")
"""Fields that tell a golden of DeepEval from a pair of input and expected output. Plain rows have
them, too."""
_FOREIGN = (
    *(name for name in EXPECTED_NAMES if name not in _NAMES.expected),
    "id",
    "case_id",
    "tags",
    "evaluation_criteria",
)
"""Fields with a meaning in plain rows, and none in DeepEval: its answer would not be expected."""


class DeepEvalFormat(RowFormat):
    name = "deepeval"
    recognized_by = (
        "rows with `input` and `retrieval_context`, `expected_tools`, `actual_output` or another "
        "field of DeepEval, or with `scenario` and `expected_outcome`"
    )
    names = _NAMES
    containers: tuple[Container, ...] = ("list", "rows", "table")
    shape = declare_shape("Golden", _NAMES)
    columns: ClassVar[tuple[str, ...]] = ("input", "actual_output", "expected_output")
    separators: ClassVar[Mapping[str, str]] = {"context": "|", "retrieved": "|"}

    def claims_row(self, row: Object) -> bool:
        return is_golden(row)

    def check(self, item: Json) -> Iterator[Problem]:
        if not isinstance(item, dict) or not _is_conversation(item):
            yield from super().check(item)
        elif not item.get("scenario"):
            yield Problem(where="$", message="missing field 'scenario'")

    def read_case(self, doc: Json) -> Case:
        if not isinstance(doc, dict) or not _is_conversation(doc):
            return super().read_case(doc)
        rest = {key: value for key, value in doc.items() if key not in _CONVERSATION}
        case = super().read_case(rest)
        plan, outcome = doc.get("scenario"), doc.get(_OUTCOME)
        turns = read_turns(parse_cell(doc.get("turns")))  # DeepEval saves them as JSON in a text
        plan = plan if isinstance(plan, str) else ""
        prompt = (turns[0].user or "") if turns else ""
        has_name = self.names.find(doc, "id") is not None
        rubric = Rubric(id=_OUTCOME, text=outcome) if isinstance(outcome, str) else None
        return msgspec.structs.replace(
            case,
            id=case.id if has_name else content_id(plan),
            scenario=Scenario(prompt=prompt, plan=plan, persona=doc.get("user_description")),
            rubrics=(rubric,) if rubric else (),
        )

    def write_case(self, case: Case) -> Json:
        if case.scenario is None:
            # DeepEval exports every field; this one tells its rows from other pairs.
            row = {"actual_output": None, **cast("Object", super().write_case(case))}
            return {**row, "context": [case.context]} if case.context else row
        plan, prompt = case.scenario.plan, case.scenario.prompt
        outcome = next((rubric.text for rubric in case.rubrics if rubric.id == _OUTCOME), None)
        persona = case.scenario.persona
        golden = without_nulls(
            name=None if is_derived(case.id, content_id(plan)) else case.id,
            scenario=plan,
            user_description=persona if isinstance(persona, str) else None,
            turns=[{"role": "user", "content": prompt}] if prompt else None,
            context=[case.context] if case.context else None,
            additional_metadata=case.metadata or None,
        )
        return {**golden, _OUTCOME: outcome}

    def write_cells(self, case: Case) -> Json:
        cells = cast("Object", super().write_cells(case))
        recorded = case.recorded.turns[-1] if case.recorded and case.recorded.turns else None
        grounding = (recorded.grounding if recorded else None) or ()
        # Of a list, DeepEval reads the texts between the separators, not JSON.
        texts: dict[str, str] = {
            "context": (case.context or "").replace("\0", ""),
            "retrieval_context": "|".join(text for text in grounding if isinstance(text, str)),
        }
        return {**cells, **{name: text for name, text in texts.items() if text}}


def is_golden(row: Object) -> bool:
    """Whether a row is a golden of DeepEval."""
    is_own = has_any(row, *_OWN_SIGNS) or not has_any(row, *_FOREIGN)
    return ("input" in row and is_own and has_more_than_pair(row)) or _is_conversation(row)


def has_more_than_pair(row: Object) -> bool:
    """Whether a row has more than an input and an output, as goldens of DeepEval and plain rows."""
    is_listed = isinstance(row.get("context"), list)
    return is_listed or has_any(row, *_OWN_SIGNS, *_SHARED_SIGNS)


def _is_conversation(row: Object) -> bool:
    return "scenario" in row and has_any(row, *_CONVERSATION[1:]) and "input" not in row
