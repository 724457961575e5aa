"""The columns of simulation tables, found in cases and traces wherever these come from."""

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

Read = Callable[[Subject], Json]
Object = dict[str, Json]


def _user_inputs(subject: Subject) -> Json:
    turns = subject.trace.turns or subject.case.turns
    said: list[Json] = [turn.user for turn in turns if turn.user is not None]
    return said or None


def _final_response(subject: Subject) -> Json:
    return subject.trace.turns[-1].response if subject.trace.turns else None


def _sub_agent_trace(subject: Subject) -> Json:
    said = [one for turn in subject.trace.turns for one in turn.messages]
    return [{"name": one.agent, "text": one.text} for one in said] or None


def _trace_summary(subject: Subject) -> Json:
    """What happened, in order: as it was recorded, else made of the turns."""
    return subject.trace.attributes.get("trace_summary") or formatting.dialogue(subject.trace.turns)


def _tool_interactions(subject: Subject) -> Json:
    turns = [turn for turn in subject.trace.turns if turn.tool_calls is not None]
    used: list[Json] = [one for turn in turns for one in _uses(turn)]
    return used if turns else None


def _uses(turn: Turn) -> list[Object]:
    made: list[Object] = []
    for call, result in calls_with_results(turn):
        output = None if result is None else result.result if result.error is None else result.error
        told: Object = {"tool_name": call.name, "input_arguments": call.args}
        made.append(told if result is None else {**told, "output_result": output})
    return made


def _conversation_history(subject: Subject) -> Json:
    told = [
        {"role": role, "text": text}
        for turn in subject.trace.turns
        for role, text in (("user", turn.user), ("model", turn.response))
        if text is not None
    ]
    return cast("Json", told or None)


def _grounding_chunks(subject: Subject) -> Json:
    found = [turn.grounding for turn in subject.trace.turns if turn.grounding is not None]
    chunks: list[Json] = [chunk for one in found for chunk in one]
    return chunks if found else None


def _extracted(subject: Subject) -> Object:
    """All extracted data: what traces have a place for, and what else was extracted."""
    found = subject.trace.attributes.get("extracted_data")
    made = {name: read(subject) for name, read in _EXTRACTED.items()}
    stated = {name: value for name, value in made.items() if value is not None}
    return {**(subject.trace.state or {}), **(found if isinstance(found, dict) else {}), **stated}


def _reference(subject: Subject) -> Object:
    """All reference data, with the standard keys."""
    case = subject.case
    last = case.turns[-1].response if case.turns else None
    made: Object = {
        "reference_tool_interactions": _expected_calls(subject),
        "reference_trajectory": None if case.trajectory is None else [*case.trajectory],
        "reference_state_variables": case.state,
        "expected_response": last,
        "expected_response_contains": None if case.contains is None else [*case.contains],
    }
    return {**{name: one for name, one in made.items() if one is not None}, **case.reference}


def _expected_calls(subject: Subject) -> Json:
    by_turn = [turn.tool_calls for turn in subject.case.turns if turn.tool_calls is not None]
    if subject.case.tool_calls is None and not by_turn:
        return None
    calls: list[ToolCall] = [
        *(subject.case.tool_calls or ()),
        *(one for found in by_turn for one in found),
    ]
    return [{"tool_name": call.name, "input_arguments": call.args} for call in calls]


def _shown_as(name: str) -> Read:
    return INPUTS[name].read


_EXTRACTED: Mapping[str, Read] = {
    "state_variables": lambda subject: subject.trace.state,
    "tool_interactions": _tool_interactions,
    "tool_declarations": _shown_as("available_tools"),
    "system_instruction": _shown_as("system_instructions"),
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
_COLUMNS: Mapping[str, Read] = {
    "user_inputs": _user_inputs,
    "final_response": _final_response,
    "sub_agent_trace": _sub_agent_trace,
    "trace_summary": _trace_summary,
    "extracted_data": lambda subject: _extracted(subject) or None,
    "reference_data": lambda subject: _reference(subject) or None,
    "question_metadata": lambda subject: subject.case.metadata or None,
    "agents_evaluated": lambda subject: (
        None if subject.case.agents is None else [*subject.case.agents]
    ),
    "system_instructions": _shown_as("system_instructions"),
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
"""Columns that only a simulation table has."""
_OPEN = {"extracted_data": (*_EXTRACTED, *_ALSO_EXTRACTED), "reference_data": _REFERENCE}
"""Columns with keys of the user's own, and the keys that are known there."""
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


def problem(column: str) -> tuple[str, str] | None:
    """What is wrong with the name of a column, and a hint."""
    root, _, key = column.partition(":")
    known = (*_COLUMNS, *_AS_RECORDED)
    if root not in known:
        return f"unknown column {root!r}", did_you_mean(root, known) or f"known: {', '.join(known)}"
    first = key.partition(".")[0]
    keys = _OPEN.get(root, ())
    if first and first not in keys and (near := nearest_name(first, keys, cutoff=0.85)):
        return f"unknown column {column!r}", f"did you mean '{root}:{near}'?"
    return None


def need(column: str) -> Need | None:
    return _NEEDS.get(column)


def read(column: str, subject: Subject) -> Json:
    """The value of a column; `None` if it was not recorded or not stated."""
    root, _, path = column.partition(":")
    whole = _COLUMNS[root](subject) if root in _COLUMNS else subject.trace.attributes.get(root)
    return _within(_decoded(whole), path) if path else whole


def _decoded(value: Json) -> Json:
    """An answer may be a JSON document."""
    if not isinstance(value, str):
        return value
    try:
        return cast("Json", msgspec.json.decode(value))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _within(value: Json, path: str) -> Json:
    """The value at a path of keys with dots; a key may itself have dots and colons."""
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    for place, mark in enumerate(path):
        if mark in ".:" and path[:place] in value:
            return _within(value[path[:place]], path[place + 1 :])
    return None


def _last(value: Json) -> Json:
    return (value[-1] if value else None) if isinstance(value, list) else value


def _first(value: Json) -> Json:
    return (value[0] if value else None) if isinstance(value, list) else value


TRANSFORMS: Mapping[str, Callable[[Json], Json]] = {"last_item": _last, "first_item": _first}


def text(value: Json) -> str | None:
    """A value as a judge reads it: a list of texts line by line, the rest as JSON."""
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(map(str, value))
    return formatting.plain(value)
