"""The rows of a simulation: their columns, the JSON in their cells, and their rules."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import msgspec

from carob.datasets.document_types import Open, kind, respelt
from carob.datasets.formats.reference_data import ReferenceData
from carob.datasets.patch import Object
from carob.datasets.shape_errors import problems
from carob.schema import Json, Problem


class SubAgentTurn(Open):
    """What one agent said; real files spell the keys the second way."""

    name: str | None = None
    text: str | None = None
    agent_name: str | None = None
    text_response: str | None = None
    timestamp: Any = None


class ToolUse(Open):
    """A tool call that was made, and what the tool answered."""

    tool_name: str = ""
    input_arguments: Any = None
    call_id: str | None = None
    output_result: Any = None


class ExtractedData(Open):
    """What was found in the session's trace."""

    state_variables: dict[str, Any] | None = None
    tool_interactions: list[ToolUse] | None = None
    grounding_chunks: list[Any] | None = None
    sub_agent_trace: Any = None
    conversation_history: Any = None
    tool_declarations: Any = None
    system_instruction: Any = None
    thinking_trace: Any = None


class SimulationRow(Open):
    """One simulated session. In a table all cells are texts, and hold JSON where it is needed."""

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


SEED = (
    "user_inputs",
    "final_response",
    "sub_agent_trace",
    "trace_summary",
    "extracted_data",
    "session_trace",
)
JSON = ("sub_agent_trace", "extracted_data", "question_metadata", "reference_data")
_LISTS = ("user_inputs", "agents_evaluated")
"""A single text may stand for a list of it."""
_TEXTS = (
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
"""Columns whose cells are texts even if they look like JSON."""

_INNER: dict[str, type] = {
    "extracted_data": ExtractedData,
    "question_metadata": dict[str, Any],
    "reference_data": ReferenceData,
    "sub_agent_trace": list[SubAgentTurn],
}


READ = (*SEED, *JSON, *_LISTS, "eval_id", "question_id", "session_id")
"""The columns that have a meaning here."""


def opened(row: Object, *, table: bool) -> Object:
    """The row with the JSON in its texts decoded; where a text holds none, it stays."""
    return {name: _open_cell(name, value, table) for name, value in respelt(row, READ).items()}


def _open_cell(name: str, value: Json, table: bool) -> Json:
    if not isinstance(value, str):
        return value
    if name in JSON or name in _LISTS:
        found = _decoded(value) if value.strip() else None
        return found if found is None or isinstance(found, list | dict) else value
    return _decoded(value) if table and name not in _TEXTS else value


def _decoded(text: str) -> Json:
    """The JSON in a text, or the text if it holds none."""
    try:
        return cast("Json", msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def closed(row: Object) -> Object:
    """The row as cells of a table; empty cells are left out."""
    cells = {name: close_cell(name, value) for name, value in row.items()}
    return {name: cell for name, cell in cells.items() if cell}


def close_cell(name: str, value: Json) -> str:
    """A value as text, from which `opened` gets it back."""
    if isinstance(value, str) and (name in _TEXTS or not value or _decoded(value) == value):
        return value.replace("\0", "")  # a table with a NUL is no text file
    return to_text(value)


def to_text(value: Json) -> str:
    """JSON as the tools of this format write it."""
    return json.dumps(value, ensure_ascii=False)


def check_row(row: Object) -> Iterator[Problem]:
    """What is wrong with a row beyond its shape."""
    row = respelt(row, READ)
    yield from _check_inputs(row)
    for name in (*JSON, "session_trace"):
        yield from _check_cell(name, row.get(name))
    missing = [name for name in SEED if row.get(name) is None and name != "user_inputs"]
    if missing:
        names = ", ".join(map(repr, missing))
        yield Problem(where="$", message=f"nothing in {names}", severity="warning")


def _check_inputs(row: Object) -> Iterator[Problem]:
    found = _open_cell("user_inputs", row.get("user_inputs"), table=True)
    if not isinstance(found, list) or not found:
        was = "an empty list" if found == [] else kind(found)
        yield Problem(
            where="$.user_inputs",
            message=f"found {was}, expected a list of at least one text",
            hint='such as `["Hi", "Where is my order?"]`',
        )
        return
    if isinstance(row["user_inputs"], str):
        yield from problems(found, list[str], "$.user_inputs")


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
    if name in _INNER and value is not None:
        yield from problems(value, _INNER[name], path)


def _hint(cell: str) -> str | None:
    python = cell.lstrip().startswith(("{'", "['", "[{'"))
    return "this is Python's own notation: write it with `json.dumps`" if python else None
