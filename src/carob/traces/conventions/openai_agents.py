"""The OpenAI Agents SDK: its own export, and Logfire's instrumentation of it.

Other instrumentations of the SDK write other conventions.
"""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_object, decode_json, objects_in

_ROLES: dict[Json, SpanRole] = {
    "agent": "agent",
    "function": "tool",
    "mcp_tools": "chain",
    "generation": "model",
    "response": "model",
    "trace": "workflow",
    "guardrail": "guardrail",
}


class OpenAiAgents(Convention):
    """Spans as the OpenAI Agents SDK sends them to OpenAI."""

    name: ClassVar[str] = "openai-agents"
    version: ClassVar[int] = 3
    marks: ClassVar = SpanMarks(late_attributes=("openai_agents.type",))

    usage_keys: ClassVar = (
        "openai_agents.usage",
        "openai_agents.data",
        "openai_agents.output",
    )
    agent_names: ClassVar = ("openai_agents.name",)
    models: ClassVar = ("openai_agents.model",)
    conversations: ClassVar = ("openai_agents.group_id", "session.id")
    inputs: ClassVar = (messages_in("openai_agents.input", "user"),)
    outputs: ClassVar = (messages_in("openai_agents.output", "assistant"),)
    tool_names: ClassVar = ("openai_agents.name",)
    tool_args: ClassVar = ("openai_agents.input",)
    tool_results: ClassVar = ("openai_agents.output",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the span data."""
        kind = span.attributes.get("openai_agents.type")
        if kind == "custom":  # the task and the turns of a run
            return "chain" if "sdk_span_type" in self._data(span) else None
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def _data(self, span: Span) -> dict[str, Json]:
        return as_object(decode_json(span.attributes.get("openai_agents.data")))

    def agent_name(self, span: Span) -> str | None:
        """Return the agent's name; the name of a trace is the workflow's."""
        trace = span.attributes.get("openai_agents.type") == "trace"
        return None if trace else super().agent_name(span)

    def usage(self, span: Span) -> Usage:
        """Return the counts of the usage object of either OpenAI API."""
        usage = decode_json(span.attributes.get("openai_agents.usage"))
        if usage is None:
            usage = _run_usage(self._data(span)) or _completion_usage(span)
        return usage_of(usage) or Usage()

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; its error is recorded beside its output.

        With content turned off, JavaScript writes empty texts in place of both.
        """
        tool = super().tool(span)
        if tool.raw_args == "":
            tool.raw_args = None
        if tool.raw_args is None and tool.output and tool.output.value == "":
            tool.output = None
        error = span.attributes.get("openai_agents.error")
        if error and tool.output:
            tool.output.failed = True
        return tool


def _run_usage(data: dict[str, Json]) -> Json:
    """The usage of a task or a turn, whose cached tokens are part of the input."""
    usage = data.get("usage")
    if not isinstance(usage, dict):
        return None
    details: Json = {
        "cached_tokens": usage.get("cached_input_tokens"),
        "cache_write_tokens": usage.get("cache_write_input_tokens"),
    }
    counts = {key: usage.get(key) for key in ("input_tokens", "output_tokens", "total_tokens")}
    return {**counts, "input_tokens_details": details}


def _completion_usage(span: Span) -> Json:
    """The usage within the chat completion that JavaScript records as output."""
    for completion in objects_in(decode_json(span.attributes.get("openai_agents.output"))):
        if "usage" in completion:
            return completion["usage"]
    return None


_TURN = "Turn {turn}"
_LOGFIRE_ROLES: dict[str, SpanRole] = {
    "OpenAI Agents trace": "workflow",
    "Agent run": "agent",
    "Responses API": "model",
    "Chat completion": "model",
    "Function": "tool",
    "Guardrail": "guardrail",
    _TURN: "chain",
}
"""The roles of Logfire's spans, by the prefixes of their names."""


class LogfireAgents(GenAi):
    """Logfire's instrumentation of the OpenAI Agents SDK."""

    name: ClassVar[str] = "openai-agents"
    version: ClassVar[int] = OpenAiAgents.version
    marks: ClassVar = SpanMarks(scopes=("logfire.openai_agents",))

    usage_keys: ClassVar = ("usage",)
    agent_names: ClassVar = ("name",)
    conversations: ClassVar = ("group_id", *GenAi.conversations)
    inputs: ClassVar = (
        messages_in("raw_input", "user"),
        messages_in("input", "user"),
        *GenAi.inputs,
    )
    outputs: ClassVar = (
        messages_in("response", "assistant"),
        messages_in("output", "assistant"),
        *GenAi.outputs,
    )
    tool_names: ClassVar = ("name",)
    tool_args: ClassVar = ("input",)
    tool_results: ClassVar = ("output",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the prefix of the span's name."""
        for prefix, role in _LOGFIRE_ROLES.items():
            if span.name.startswith(prefix):
                return role
        return None

    def agent_name(self, span: Span) -> str | None:
        """Return the agent's name; the name of a trace is the workflow's."""
        return super().agent_name(span) if span.name.startswith("Agent run") else None

    def conversation_id(self, span: Span) -> str | None:
        """Return the group of traces; Logfire writes `null` if there is none."""
        group = super().conversation_id(span)
        return None if group == "null" else group

    def usage(self, span: Span) -> Usage:
        """Return the SDK's own counts, which include the details. Turns repeat those of their
        model call, and of agents that ran at the same time."""
        if span.name.startswith(_TURN):
            return Usage()
        usage = decode_json(span.attributes.get("usage"))
        return (usage_of(usage) or Usage()) if isinstance(usage, dict) else super().usage(span)
