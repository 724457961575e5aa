"""The columns of simulation tables, read from cases and traces of any origin."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import msgspec

from carob.judges.rubrics import formatting
from carob.judges.rubrics.inputs import INPUTS
from carob.judges.rubrics.subject import Subject
from carob.metrics import Need
from carob.metrics.tools.activity import calls_with_results
from carob.schema import Json, ToolCall, Turn
from carob.text.spelling import did_you_mean, nearest_name

ColumnReader = Callable[[Subject], Json]
Object = dict[str, Json]


def _user_inputs(subject: Subject) -> Json:
    turns = subject.trace.turns or subject.case.turns
    messages: list[Json] = [turn.user for turn in turns if turn.user is not None]
    return messages or None


def _final_response(subject: Subject) -> Json:
    return subject.trace.turns[-1].response if subject.trace.turns else None


def _sub_agent_trace(subject: Subject) -> Json:
    messages = [message for turn in subject.trace.turns for message in turn.messages]
    return [{"name": item.agent, "text": item.text} for item in messages] or None


def _trace_summary(subject: Subject) -> Json:
    """Return the recorded summary, or else one built from the turns."""
    return subject.trace.attributes.get("trace_summary") or formatting.format_dialogue(
        subject.trace.turns
    )


def _tool_interactions(subject: Subject) -> Json:
    turns = [turn for turn in subject.trace.turns if turn.tool_calls is not None]
    interactions: list[Json] = [item for turn in turns for item in _interactions(turn)]
    return interactions if turns else None


def _interactions(turn: Turn) -> list[Object]:
    interactions: list[Object] = []
    for call, result in calls_with_results(turn):
        output = None if result is None else result.result if result.error is None else result.error
        item: Object = {"tool_name": call.name, "input_arguments": call.args}
        interactions.append(item if result is None else {**item, "output_result": output})
    return interactions


def _conversation_history(subject: Subject) -> Json:
    messages = [
        {"role": role, "text": text}
        for turn in subject.trace.turns
        for role, text in (("user", turn.user), ("model", turn.response))
        if text is not None
    ]
    return cast("Json", messages or None)


def _grounding_chunks(subject: Subject) -> Json:
    recorded = [turn.grounding for turn in subject.trace.turns if turn.grounding is not None]
    chunks: list[Json] = [chunk for grounding in recorded for chunk in grounding]
    return chunks if recorded else None


def _collect_extracted(subject: Subject) -> Object:
    """Return all extracted data: the fields of the trace and what else was extracted."""
    extracted = subject.trace.attributes.get("extracted_data")
    values = {name: read(subject) for name, read in _EXTRACTED.items()}
    fields = {name: value for name, value in values.items() if value is not None}
    return {
        **(subject.trace.state or {}),
        **(extracted if isinstance(extracted, dict) else {}),
        **fields,
    }


def _reference(subject: Subject) -> Object:
    """Return all reference data, including the standard keys."""
    case = subject.case
    last = case.turns[-1].response if case.turns else None
    fields: Object = {
        "reference_tool_interactions": _reference_calls(subject),
        "reference_trajectory": None if case.trajectory is None else [*case.trajectory],
        "reference_state_variables": case.state,
        "expected_response": last,
        "expected_response_contains": None if case.contains is None else [*case.contains],
    }
    return {
        **{name: value for name, value in fields.items() if value is not None},
        **case.reference,
    }


def _reference_calls(subject: Subject) -> Json:
    by_turn = [turn.tool_calls for turn in subject.case.turns if turn.tool_calls is not None]
    if subject.case.tool_calls is None and not by_turn:
        return None
    calls: list[ToolCall] = [
        *(subject.case.tool_calls or ()),
        *(call for turn_calls in by_turn for call in turn_calls),
    ]
    return [{"tool_name": call.name, "input_arguments": call.args} for call in calls]


def _read_input(name: str) -> ColumnReader:
    return INPUTS[name].read


_EXTRACTED: Mapping[str, ColumnReader] = {
    "state_variables": lambda subject: subject.trace.state,
    "tool_interactions": _tool_interactions,
    "tool_declarations": _read_input("available_tools"),
    "system_instruction": _read_input("system_instructions"),
    "conversation_history": _conversation_history,
    "sub_agent_trace": _sub_agent_trace,
    "grounding_chunks": _grounding_chunks,
}
_ALSO_EXTRACTED = ("thinking_trace", "per_turn_tokens", "stop_reasons")
_REFERENCE = (
    "reference_tool_interactions",
    "reference_trajectory",
    "reference_state_variables",
    "expected_response",
    "expected_response_contains",
)
_COLUMNS: Mapping[str, ColumnReader] = {
    "user_inputs": _user_inputs,
    "final_response": _final_response,
    "sub_agent_trace": _sub_agent_trace,
    "trace_summary": _trace_summary,
    "extracted_data": lambda subject: _collect_extracted(subject) or None,
    "reference_data": lambda subject: _reference(subject) or None,
    "question_metadata": lambda subject: subject.case.metadata or None,
    "agents_evaluated": lambda subject: (
        None if subject.case.agents is None else [*subject.case.agents]
    ),
    "system_instructions": _read_input("system_instructions"),
    "final_session_state": lambda subject: subject.trace.state,
    "session_state": lambda subject: subject.trace.state,
    "eval_id": lambda subject: subject.case.id,
    "question_id": lambda subject: subject.case.id,
    "session_id": lambda subject: subject.trace.id,
}
_AS_RECORDED = (
    "session_trace", "request", "response", "prompt", "custom_extract", "missing_information",
    "latency_data", "status", "run_id", "agent_name", "app_name", "timestamp",
)  # fmt: skip
"""Columns that exist only in simulation tables."""
_OPEN = {"extracted_data": (*_EXTRACTED, *_ALSO_EXTRACTED), "reference_data": _REFERENCE}
"""Columns with user-defined keys, and their standard keys."""
_NEEDS: Mapping[str, Need] = {
    "user_inputs": "user",
    "final_response": "response",
    "extracted_data:tool_interactions": "tool_calls",
    "extracted_data:state_variables": "state",
    "extracted_data:grounding_chunks": "grounding",
    "reference_data:expected_response": "case.response",
    "reference_data:reference_tool_interactions": "case.tool_calls",
    "reference_data:reference_trajectory": "case.trajectory",
    "reference_data:reference_state_variables": "case.state",
    "reference_data:expected_response_contains": "case.contains",
}


def check_column(column: str) -> tuple[str, str] | None:
    """Return the error and the hint for an invalid column name; `None` if it is valid."""
    root, _, key = column.partition(":")
    names = (*_COLUMNS, *_AS_RECORDED)
    if root not in names:
        return f"unknown column {root!r}", did_you_mean(
            root, names
        ) or f"expected one of: {', '.join(names)}"
    first = key.partition(".")[0]
    keys = _OPEN.get(root, ())
    if first and first not in keys and (near := nearest_name(first, keys, cutoff=0.85)):
        return f"unknown column {column!r}", f"did you mean '{root}:{near}'?"
    return None


def column_need(column: str) -> Need | None:
    """Return what a trace or case must have for a column."""
    return _NEEDS.get(column)


def read_column(column: str, subject: Subject) -> Json:
    """Return the value of a column; `None` if it was not recorded or not stated."""
    root, _, path = column.partition(":")
    value = _COLUMNS[root](subject) if root in _COLUMNS else subject.trace.attributes.get(root)
    return _value_at(_decode(value), path) if path else value


def _decode(value: Json) -> Json:
    """Decode a response that is a JSON document."""
    if not isinstance(value, str):
        return value
    try:
        return cast("Json", msgspec.json.decode(value))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _value_at(value: Json, path: str) -> Json:
    """Return the value at a dotted path. Keys may contain dots and colons themselves."""
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    for position, character in enumerate(path):
        if character in ".:" and path[:position] in value:
            return _value_at(value[path[:position]], path[position + 1 :])
    return None


def _last_item(value: Json) -> Json:
    return (value[-1] if value else None) if isinstance(value, list) else value


def _first_item(value: Json) -> Json:
    return (value[0] if value else None) if isinstance(value, list) else value


TRANSFORMS: Mapping[str, Callable[[Json], Json]] = {
    "last_item": _last_item,
    "first_item": _first_item,
}


def column_text(value: Json) -> str | None:
    """Format a value for the judge: a list of texts line by line, anything else as JSON."""
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "\n".join(map(str, value))
    return formatting.to_text(value)
