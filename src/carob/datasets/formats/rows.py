"""Plain rows: a question and, optionally, its answer, under the names that people commonly use.

It claims what no other format claims. Other names are mapped to fields: `rows:input=frage`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from carob.datasets.formats import Format
from carob.datasets.formats.row_format import RowFormat, RowNames, declare_shape, has_any
from carob.datasets.formats.row_values import EXPECTED_NAMES, INPUT_NAMES
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.lazy import load_object
from carob.schema import Json, Problem
from carob.schema.field_map import (
    GOLDEN_FIELDS,
    check_field_map,
    format_field_map,
    parse_field_map,
    select_fields,
)
from carob.text.spelling import nearest_name

_MESSAGES = ("messages", "turns", "conversation")
_NAMES = RowNames(
    input=(*INPUT_NAMES[:-1], *_MESSAGES),
    expected=EXPECTED_NAMES[:-1],
    id=("id", "case_id", "test_id", "question_id", "eval_id", "qid"),
    context=("context", "reference_contexts", "reference_context"),
    retrieved=("retrieval_context", "retrieved_contexts", "contexts"),
    recorded=("actual_output", "actual_response", "actual_answer", "generated_answer", "answer"),
    tool_calls=("expected_tools", "expected_tool", "expected_tool_calls", "expected_tool_call",
        "required_tools", "tool_expected"),
    contains=("must_contain", "expected_keywords", "expected_contains", "must_include",
        "should_contain", "expected_substrings"),
    excludes=("must_not_contain", "should_not_contain", "must_not_include", "should_not_include",
        "expected_not_contains", "not_contains", "must_not_mention", "forbidden_phrases",
        "forbidden_substrings", "banned_phrases"),
    forbidden_tools=("forbidden_tools", "forbidden_tool", "must_not_call", "disallowed_tools"),
    rubrics=("rubric", "rubrics", "criteria", "grading_criteria", "evaluation_criteria",
        "expected_behavior", "expected_behaviour", "expected_behaviors", "expectations"),
    tags=("tags",),
)  # fmt: skip
_KEYS = ("items", "cases", "tests", "samples", "entries", "qa_pairs", "test_cases", "questions",
    "rows", "dataset", "evals", "examples", "goldens", "data", "prompts", "queries", "scenarios",
    "golden_set", "golden_dataset", "eval_cases", "records")  # fmt: skip
_EXPECTATIONS = ("expected", "tool_calls", "contains", "rubrics")
_CLOSE = 0.8


class RowsFormat(RowFormat):
    name = "rows"
    recognized_by = (
        "rows with `question`, `input`, `query`, `prompt` or `user_input`, alone or under a key "
        "such as `cases`; other names with `--map`"
    )
    names = _NAMES
    containers: tuple[Container, ...] = ("rows", "list", "table", "document")
    items_keys: tuple[str, ...] = _KEYS
    shape = declare_shape("PlainRow", _NAMES, _KEYS)
    structured = False

    def __init__(self, mapping: Mapping[str, str] | None = None, *, is_named: bool = False) -> None:
        self._is_named = is_named
        if mapping:
            # With the mapping in its name, whatever is read with it is written with it.
            self.name = f"{RowsFormat.name}:{format_field_map(mapping)}"
            first = {
                field: (name, *(other for other in getattr(_NAMES, field) if other != name))
                for field, name in mapping.items()
            }
            self.names = replace(_NAMES, **first)
            self.shape = declare_shape("MappedRow", self.names, _KEYS)

    def claims_row(self, row: Object) -> bool:
        is_turn = "query" in row and has_any(row, "expected_tool_use", "reference")
        names = [name for name in self.names.input if name not in _MESSAGES]
        is_message = any(_is_message(row.get(name)) for name in names)
        is_other = is_turn or is_message
        return has_any(row, *names) and (self._is_named or not is_other)

    def check_frame(self, frame: Json, _path: Path) -> Iterator[Problem]:
        """Warn about a table without expectations: its column may be misspelled."""
        columns = frame.get("columns") if isinstance(frame, dict) else None
        if not isinstance(columns, list):
            return
        row: Object = {str(column): "" for column in columns}
        if any(self.names.find(row, field) for field in _EXPECTATIONS):
            return
        others = [name for name in row if self.names.find({name: ""}, "input") is None]
        close = (nearest_name("ExpectedOutput", [name], cutoff=_CLOSE) for name in others)
        column = next(filter(None, close), None)
        hint = f"rename {column!r} to 'ExpectedOutput'" if column else "add it, or rename one"
        yield Problem(
            where="$",
            message="no column with the expected answer, such as 'ExpectedOutput'",
            hint=f"found the columns {', '.join(map(repr, row))}; {hint}",
            severity="warning",
        )

    def claims(self, sample: Json) -> bool:
        return super().claims(sample) and (self._is_named or not _is_claimed(sample))


def mapped_rows(spec: str) -> RowsFormat:
    """The format `rows` with other names, such as `input=frage,expected=antwort`."""
    return RowsFormat(parse_field_map(spec, GOLDEN_FIELDS), is_named=True)


def map_rows(formats: Sequence[Format], mapping: Mapping[str, str]) -> Sequence[Format]:
    """The formats with the mapping for plain rows, which the other formats still precede."""
    rows = RowsFormat(select_fields(check_field_map(mapping), GOLDEN_FIELDS))
    return [rows if form.name == RowsFormat.name else form for form in formats]


def _is_message(value: Json) -> bool:
    """Whether a value is a message of Google's, or a line of a coding agent's session. Both would
    become JSON text."""
    return isinstance(value, dict) and (
        "parts" in value or "role" in value or isinstance(value.get("content"), list)
    )


def _is_claimed(sample: Json) -> bool:
    """Whether a more specific built-in format claims the file."""
    from carob.datasets.formats import BUILTIN  # late: the table names this module

    others = (reference for name, reference in BUILTIN.items() if name != RowsFormat.name)
    return any(load_object(reference)().claims(sample) for reference in others)
