"""GitHub Copilot CLI: the events of a session, one per line, with a dotted type and their data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Usage
from carob.traces.containers.session_lines import SessionLines
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import instant
from carob.traces.shape import as_count, as_object, as_text, decode_structure, objects_in

_FAMILIES = frozenset(
    ("session", "user", "assistant", "system", "tool", "subagent", "skill", "hook", "permission")
)
_MORE = frozenset(("abort", "model", "external_tool", "user_input", "elicitation", "command"))
_USAGE = ("session.usage_record", "assistant.usage", "assistant.message")
"""The events that count tokens, the most complete first: older versions write only the last."""


class Copilot(SessionLines):
    """Lines with a type such as `user.message`, their `data`, an id and that of the line before."""

    name: ClassVar[str] = "copilot"
    convention: ClassVar[str] = "copilot-session"

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("type")
        if not isinstance(kind, str) or not isinstance(fields.get("data"), dict):
            return False
        family = kind.partition(".")[0]
        return (family in _FAMILIES or family in _MORE) and {"id", "timestamp"} <= fields.keys()

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item)
        starts = (as_object(line["data"]) for line in lines if line["type"] == "session.start")
        session = next((as_text(data.get("sessionId")) for data in starts), None)
        turns = _EventReader(lines).builder.turns()
        if turns:
            yield self.build_trace(lines, turns, source, session=session)


class _EventReader:
    """Builds the turns of one session."""

    def __init__(self, lines: list[dict[str, Json]]) -> None:
        self.builder = TurnBuilder()
        self._agents: dict[str, str] = {}
        """The names of sub-agents, by their ids and by those of the calls that started them."""
        self._calls: set[str | None] = set()
        kinds = {as_text(line["type"]) for line in lines}
        self._usage_kind = next((kind for kind in _USAGE if kind in kinds), None)
        for line in lines:
            self._add(line, as_object(line["data"]))
            self.builder.add_time(instant(line.get("timestamp")))

    def _add(self, line: dict[str, Json], data: dict[str, Json]) -> None:
        kind, agent = line["type"], self._find_agent(line, data)
        if kind == "user.message" and agent is None:
            self.builder.add_user_text(as_text(data.get("content")) or "")
        elif kind == "subagent.started":
            for key in (as_text(data.get("toolCallId")), as_text(line.get("agentId"))):
                self._agents[key or ""] = as_text(data.get("agentName")) or "subagent"
        elif kind == "assistant.message":
            self._add_answer(data, agent)
        elif kind == "tool.execution_start":
            self._add_call(data, "toolName", agent)
        elif kind == "tool.execution_complete":
            self._add_result(data)
        elif kind == "session.error":
            self.builder.add_error(as_text(data.get("message")) or "the model failed")
        if kind == self._usage_kind:
            self._add_usage(as_object(data.get("usage")) or data, agent)

    def _find_agent(self, line: dict[str, Json], data: dict[str, Json]) -> str | None:
        """The sub-agent that an event is about; `None` for the main agent."""
        key = as_text(line.get("agentId")) or as_text(data.get("parentToolCallId"))
        return None if key is None else self._agents.get(key, "subagent")

    def _add_answer(self, data: dict[str, Json], agent: str | None) -> None:
        self.builder.add_agent(agent)
        text = as_text(data.get("content"))
        if (
            text and agent is None
        ):  # what a sub-agent says is the result of the call that started it
            self.builder.add_answer("", text)
        for request in objects_in(data.get("toolRequests")):
            self._add_call(request, "name", agent)

    def _add_call(self, data: dict[str, Json], name_key: str, agent: str | None) -> None:
        """Add a call when it is requested, or when it starts if its request is not recorded."""
        key = as_text(data.get("toolCallId"))
        if key is not None and key in self._calls:
            return
        self._calls.add(key)
        name, args = as_text(data.get(name_key)) or "", decode_structure(data.get("arguments"))
        self.builder.add_call(ToolCall(name=name, args=args, id=key, agent=agent))

    def _add_result(self, data: dict[str, Json]) -> None:
        error = None
        if data.get("success") is False:
            error = as_text(as_object(data.get("error")).get("message")) or TOOL_FAILED
        result = as_object(data.get("result")).get("content", error)
        call_id = as_text(data.get("toolCallId"))
        self.builder.add_result(ToolResult(id=call_id, result=result, error=error))

    def _add_usage(self, counts: dict[str, Json], agent: str | None) -> None:
        usage = Usage(
            input_tokens=as_count(counts.get("inputTokens")),
            output_tokens=as_count(counts.get("outputTokens")),
            cached_tokens=as_count(counts.get("cacheReadTokens")),
            cache_write_tokens=as_count(counts.get("cacheWriteTokens")),
            reasoning_tokens=as_count(counts.get("reasoningTokens")),
        )
        model = as_text(counts.get("model"))
        if model is not None or usage != Usage():
            self.builder.add_model_call(ModelCall(model=model, usage=usage, agent=agent))
