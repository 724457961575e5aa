"""Antigravity: the steps of a conversation, as Google's SDK for Python keeps them.

A step is recorded again whenever it changes. The output of a tool is the content of its step. The
SDK warns that the token counts of steps do not add up to those of the model calls: they are not
read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.containers.session_lines import SessionLines
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.shape import as_array, as_count, as_object, as_text, decode_structure, objects_in

_TYPES = frozenset(
    ("TEXT_RESPONSE", "TOOL_CALL", "SYSTEM_MESSAGE", "COMPACTION", "FINISH", "THINKING", "UNKNOWN")
)
_ANSWERS = frozenset(("TEXT_RESPONSE", "FINISH"))
_SUBAGENT = "subagent"
NO_COUNTS = "the steps of Antigravity do not count the tokens of each model call"


class Antigravity(SessionLines):
    """Steps with a `step_index` and one of the SDK's types, in a list or one per line."""

    name: ClassVar[str] = "antigravity"
    convention: ClassVar[str] = "antigravity-steps"

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return "step_index" in fields and as_text(fields.get("type")) in _TYPES

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item)
        builder = TurnBuilder()
        for step in _last_versions(lines):
            _add_step(builder, step)
        if turns := builder.turns():
            roots = (as_text(line.get("trajectory_id")) for line in lines if not _depth(line))
            session = next(filter(None, roots), None)
            gaps = {"usage": NO_COUNTS}
            yield self.build_trace(lines, turns, source, session=session, gaps=gaps)


def _last_versions(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    steps: dict[tuple[Json, Json], dict[str, Json]] = {}
    for line in lines:
        steps[as_text(line.get("trajectory_id")), as_count(line.get("step_index"))] = line
    return [*steps.values()]


def _depth(step: dict[str, Json]) -> int:
    """How many agents are around the one of a step."""
    return as_count(step.get("depth")) or 0


def _add_step(builder: TurnBuilder, step: dict[str, Json]) -> None:
    kind, content = as_text(step.get("type")), as_text(step.get("content"))
    agent = _SUBAGENT if _depth(step) else None
    if kind == "TOOL_CALL":
        _add_calls(builder, step, agent)
    elif agent is not None or not content:  # what a sub-agent says is the result of a call
        return
    elif step.get("source") == "USER":
        builder.add_user_text(content)
    elif kind in _ANSWERS and content != builder.last_answer:  # the end may repeat the answer
        builder.add_answer("", content)


def _add_calls(builder: TurnBuilder, step: dict[str, Json], agent: str | None) -> None:
    """Add the calls of a step; its output belongs to a call if there is only one."""
    calls = objects_in(step.get("tool_calls"))
    for call in calls:
        name, key = as_text(call.get("name")) or "", as_text(call.get("id"))
        builder.add_call(ToolCall(name=name, args=call.get("args"), id=key, agent=agent))
    output, error = as_text(step.get("content")), as_text(step.get("error")) or None
    if step.get("status") == "ERROR":
        error = error or TOOL_FAILED
    if len(as_array(step.get("tool_calls"))) == 1 and (output or error):
        call = calls[0]
        result = decode_structure(output) if output else error
        name, key = as_text(call.get("name")), as_text(call.get("id"))
        builder.add_result(ToolResult(name=name, id=key, result=result, error=error))
