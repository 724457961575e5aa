"""The rows of a simulation table: their columns, the JSON in their cells, and their rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from carob.datasets.document_types import OpenDocument, describe_value, normalize_keys
from carob.datasets.formats.reference_data import ReferenceData
from carob.datasets.patch import Object
from carob.datasets.shape_errors import find_shape_errors
from carob.schema import Json, Problem


class SubAgentTurn(OpenDocument):
    """A message of one agent; real files use `agent_name` and `text_response`."""

    name: str | None = None
    text: str | None = None
    agent_name: str | None = None
    text_response: str | None = None
    timestamp: Any = None


class ToolUse(OpenDocument):
    """A tool call and its result."""

    tool_name: str = ""
    input_arguments: Any = None
    call_id: str | None = None
    output_result: Any = None


class ExtractedData(OpenDocument):
    """Data that was extracted from the trace of the session."""

    state_variables: dict[str, Any] | None = None
    tool_interactions: list[ToolUse] | None = None
    grounding_chunks: list[Any] | None = None
    sub_agent_trace: Any = None
    conversation_history: Any = None
    tool_declarations: Any = None
    system_instruction: Any = None
    thinking_trace: Any = None


class SimulationRow(OpenDocument):
    """One simulated session. In a CSV file, structured cells contain JSON."""

    eval_id: str | None = None
    question_id: str | None = None
    session_id: str | None = None
    user_inputs: list[str] | str | None = None
    final_response: Any = None
    sub_agent_trace: list[SubAgentTurn] | str | None = None
    trace_summary: Any = None
    extracted_data: ExtractedData | str | None = None
    session_trace: Any = None
    agents_evaluated: list[str] | str | None = None
    question_metadata: dict[str, Any] | str | None = None
    reference_data: ReferenceData | str | None = None
    run_id: Any = None
    agent_name: Any = None
    app_name: Any = None
    timestamp: Any = None
    status: Any = None
    request: Any = None
    response: Any = None
    missing_information: Any = None
    latency_data: Any = None
    system_instructions: Any = None
    custom_extract: Any = None
    session_state: Any = None
    final_session_state: Any = None


REQUIRED_COLUMNS = (
    "user_inputs",
    "final_response",
    "sub_agent_trace",
    "trace_summary",
    "extracted_data",
    "session_trace",
)
JSON_COLUMNS = ("sub_agent_trace", "extracted_data", "question_metadata", "reference_data")
_LIST_COLUMNS = ("user_inputs", "agents_evaluated")
"""Columns in which a single string stands for a list of one."""
_STRING_COLUMNS = (
    "eval_id",
    "question_id",
    "session_id",
    "final_response",
    "trace_summary",
    "run_id",
    "agent_name",
    "app_name",
    "timestamp",
)
"""Columns whose cells are strings even if they look like JSON."""

_CELL_TYPES: dict[str, type] = {
    "extracted_data": ExtractedData,
    "question_metadata": dict[str, Any],
    "reference_data": ReferenceData,
    "sub_agent_trace": list[SubAgentTurn],
}


KNOWN_COLUMNS = (
    *REQUIRED_COLUMNS,
    *JSON_COLUMNS,
    *_LIST_COLUMNS,
    "eval_id",
    "question_id",
    "session_id",
)
"""The known columns."""


def decode_cells(row: Object, *, table: bool) -> Object:
    """The row with JSON in its cells decoded; other cells stay strings."""
    return {
        name: _decode_cell(name, value, table)
        for name, value in normalize_keys(row, KNOWN_COLUMNS).items()
    }


def _decode_cell(name: str, value: Json, table: bool) -> Json:
    if not isinstance(value, str):
        return value
    if name in JSON_COLUMNS or name in _LIST_COLUMNS:
        decoded = _decode_json(value) if value.strip() else None
        return decoded if decoded is None or isinstance(decoded, list | dict) else value
    return _decode_json(value) if table and name not in _STRING_COLUMNS else value


def _decode_json(text: str) -> Json:
    """The JSON in a string, or the string if it is not JSON."""
    try:
        return cast("Json", msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def encode_cells(row: Object) -> Object:
    """The row as cells of a CSV file; empty cells are omitted."""
    cells = {name: encode_cell(name, value) for name, value in row.items()}
    return {name: cell for name, cell in cells.items() if cell}


def encode_cell(name: str, value: Json) -> str:
    """A value as a string that `decode_cells` turns back into it."""
    if isinstance(value, str) and (
        name in _STRING_COLUMNS or not value or _decode_json(value) == value
    ):
        return value.replace("\0", "")  # readers reject CSV files with NUL bytes
    return to_text(value)


def to_text(value: Json) -> str:
    """JSON in the style of the tools that write this format."""
    return json.dumps(value, ensure_ascii=False)


def check_row(row: Object) -> Iterator[Problem]:
    """Problems of a row beyond its type."""
    row = normalize_keys(row, KNOWN_COLUMNS)
    yield from _check_inputs(row)
    for name in (*JSON_COLUMNS, "session_trace"):
        yield from _check_cell(name, row.get(name))
    missing = [name for name in REQUIRED_COLUMNS if row.get(name) is None and name != "user_inputs"]
    if missing:
        names = ", ".join(map(repr, missing))
        yield Problem(where="$", message=f"missing values in {names}", severity="warning")


def _check_inputs(row: Object) -> Iterator[Problem]:
    inputs = _decode_cell("user_inputs", row.get("user_inputs"), table=True)
    if not isinstance(inputs, list) or not inputs:
        actual = "an empty list" if inputs == [] else describe_value(inputs)
        yield Problem(
            where="$.user_inputs",
            message=f"expected a list of at least one string, got {actual}",
            hint='for example `["Hi", "Where is my order?"]`',
        )
        return
    if isinstance(row["user_inputs"], str):
        yield from find_shape_errors(inputs, list[str], "$.user_inputs")


def _check_cell(name: str, cell: Json) -> Iterator[Problem]:
    if not isinstance(cell, str) or not cell.strip():
        return
    path = f"$.{name}"
    try:
        value = cast("Json", msgspec.json.decode(cell))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        yield Problem(where=path, message=f"not valid JSON: {reason}", hint=_hint(cell))
        return
    if name in _CELL_TYPES and value is not None:
        yield from find_shape_errors(value, _CELL_TYPES[name], path)


def _hint(cell: str) -> str | None:
    is_python = cell.lstrip().startswith(("{'", "['", "[{'"))
    return "this is a Python literal: write it with `json.dumps`" if is_python else None
