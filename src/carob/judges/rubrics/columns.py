"""The columns of simulation tables, found in cases and traces wherever these come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import msgspec

from carob.judges.rubrics import shown
from carob.judges.rubrics.inputs import INPUTS
from carob.judges.rubrics.view import View
from carob.metrics import Need
from carob.metrics.tools import answered
from carob.schema import Json, ToolCall, Turn
from carob.text.spelling import meant, nearest

Read = Callable[[View], Json]
Object = dict[str, Json]


def _user_inputs(view: View) -> Json:
    turns = view.trace.turns or view.case.turns
    said: list[Json] = [turn.user for turn in turns if turn.user is not None]
    return said or None


def _final_response(view: View) -> Json:
    return view.trace.turns[-1].response if view.trace.turns else None


def _sub_agent_trace(view: View) -> Json:
    said = [one for turn in view.trace.turns for one in turn.messages]
    return [{"name": one.agent, "text": one.text} for one in said] or None


def _trace_summary(view: View) -> Json:
    """What happened, in order: as it was recorded, else made of the turns."""
    return view.trace.attributes.get("trace_summary") or shown.dialogue(view.trace.turns)


def _tool_interactions(view: View) -> Json:
    turns = [turn for turn in view.trace.turns if turn.tool_calls is not None]
    used: list[Json] = [one for turn in turns for one in _uses(turn)]
    return used if turns else None


def _uses(turn: Turn) -> list[Object]:
    made: list[Object] = []
    for call, result in answered(turn):
        output = None if result is None else result.result if result.error is None else result.error
        told: Object = {"tool_name": call.name, "input_arguments": call.args}
        made.append(told if result is None else {**told, "output_result": output})
    return made


def _conversation_history(view: View) -> Json:
    told = [
        {"role": role, "text": text}
        for turn in view.trace.turns
        for role, text in (("user", turn.user), ("model", turn.response))
        if text is not None
    ]
    return cast("Json", told or None)


def _grounding_chunks(view: View) -> Json:
    found = [turn.grounding for turn in view.trace.turns if turn.grounding is not None]
    chunks: list[Json] = [chunk for one in found for chunk in one]
    return chunks if found else None


def _extracted(view: View) -> Object:
    """All extracted data: what traces have a place for, and what else was extracted."""
    found = view.trace.attributes.get("extracted_data")
    made = {name: read(view) for name, read in _EXTRACTED.items()}
    stated = {name: value for name, value in made.items() if value is not None}
    return {**(view.trace.state or {}), **(found if isinstance(found, dict) else {}), **stated}


def _reference(view: View) -> Object:
    """All reference data, with the standard keys."""
    case = view.case
    last = case.turns[-1].response if case.turns else None
    made: Object = {
        "reference_tool_interactions": _expected_calls(view),
        "reference_trajectory": None if case.trajectory is None else [*case.trajectory],
        "reference_state_variables": case.state,
        "expected_response": last,
        "expected_response_contains": None if case.contains is None else [*case.contains],
    }
    return {**{name: one for name, one in made.items() if one is not None}, **case.reference}


def _expected_calls(view: View) -> Json:
    by_turn = [turn.tool_calls for turn in view.case.turns if turn.tool_calls is not None]
    if view.case.tool_calls is None and not by_turn:
        return None
    calls: list[ToolCall] = [
        *(view.case.tool_calls or ()),
        *(one for found in by_turn for one in found),
    ]
    return [{"tool_name": call.name, "input_arguments": call.args} for call in calls]


def _shown_as(name: str) -> Read:
    return INPUTS[name].read


_EXTRACTED: Mapping[str, Read] = {
    "state_variables": lambda view: view.trace.state,
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
    "extracted_data": lambda view: _extracted(view) or None,
    "reference_data": lambda view: _reference(view) or None,
    "question_metadata": lambda view: view.case.metadata or None,
    "agents_evaluated": lambda view: None if view.case.agents is None else [*view.case.agents],
    "system_instructions": _shown_as("system_instructions"),
    "final_session_state": lambda view: view.trace.state,
    "session_state": lambda view: view.trace.state,
    "eval_id": lambda view: view.case.id,
    "question_id": lambda view: view.case.id,
    "session_id": lambda view: view.trace.id,
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
        return f"unknown column {root!r}", meant(root, known) or f"known: {', '.join(known)}"
    first = key.partition(".")[0]
    keys = _OPEN.get(root, ())
    if first and first not in keys and (near := nearest(first, keys, cutoff=0.85)):
        return f"unknown column {column!r}", f"did you mean '{root}:{near}'?"
    return None


def need(column: str) -> Need | None:
    return _NEEDS.get(column)


def read(column: str, view: View) -> Json:
    """The value of a column; `None` if it was not recorded or not stated."""
    root, _, path = column.partition(":")
    whole = _COLUMNS[root](view) if root in _COLUMNS else view.trace.attributes.get(root)
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
    return shown.plain(value)
