"""The OpenAI Agents SDK: its own export, and Logfire's instrumentation of it.

Other instrumentations of the SDK write other conventions.
"""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    first_integer,
    messages_in,
)
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.shape import decode_json

_ROLES: dict[Json, SpanRole] = {
    "agent": "agent",
    "function": "tool",
    "mcp_tools": "chain",
    "generation": "model",
    "response": "model",
    "trace": "workflow",
}


ASKED = ("input_tokens_details", "prompt_tokens_details")
TOLD = ("output_tokens_details", "completion_tokens_details")


class OpenAiAgents(Convention):
    """Spans as the OpenAI Agents SDK sends them to OpenAI."""

    name: ClassVar[str] = "openai-agents"
    marks: ClassVar = SpanMarks(late_attributes=("openai_agents.type",))

    agent_names: ClassVar = ("openai_agents.name",)
    models: ClassVar = ("openai_agents.model",)
    conversations: ClassVar = ("openai_agents.group_id", "session.id")
    inputs: ClassVar = (messages_in("openai_agents.input", "user"),)
    outputs: ClassVar = (messages_in("openai_agents.output", "assistant"),)
    tool_names: ClassVar = ("openai_agents.name",)
    tool_args: ClassVar = ("openai_agents.input",)
    tool_results: ClassVar = ("openai_agents.output",)

    def role(self, span: Span) -> SpanRole | None:
        """By the type of span data."""
        kind = span.attributes.get("openai_agents.type")
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def agent_name(self, span: Span) -> str | None:
        """A trace's name is the workflow's."""
        trace = span.attributes.get("openai_agents.type") == "trace"
        return None if trace else super().agent_name(span)

    def usage(self, span: Span) -> Usage:
        """By the usage object, in the words of either OpenAI API."""
        usage = decode_json(span.attributes.get("openai_agents.usage"))
        return counted(usage) if isinstance(usage, dict) else Usage()

    def tool(self, span: Span) -> ToolSpan:
        """A tool's error is beside its output."""
        found = super().tool(span)
        error = span.attributes.get("openai_agents.error")
        if error and found.output:
            found.output.failed = True
        return found


_LOGFIRE_ROLES: dict[str, SpanRole] = {
    "OpenAI Agents trace": "workflow",
    "Agent run": "agent",
    "Responses API": "model",
    "Chat completion": "model",
    "Function": "tool",
}
"""The roles of Logfire's spans, by the prefixes of their names."""


class LogfireAgents(GenAi):
    """Logfire's instrumentation of the OpenAI Agents SDK."""

    name: ClassVar[str] = "openai-agents"
    version: ClassVar[int] = OpenAiAgents.version
    marks: ClassVar = SpanMarks(scopes=("logfire.openai_agents",))

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
        """By what the span's name begins with."""
        for begin, role in _LOGFIRE_ROLES.items():
            if span.name.startswith(begin):
                return role
        return None

    def agent_name(self, span: Span) -> str | None:
        """A trace's name is the workflow's."""
        return super().agent_name(span) if span.name.startswith("Agent run") else None

    def conversation_id(self, span: Span) -> str | None:
        """The group of traces, which may be none."""
        found = super().conversation_id(span)
        return None if found == "null" else found

    def usage(self, span: Span) -> Usage:
        """By the SDK's own count, which has the details."""
        told: Json = decode_json(span.attributes.get("usage"))
        return counted(told) if isinstance(told, dict) else super().usage(span)


def counted(usage: dict[str, Json]) -> Usage:
    """What a usage object counts."""
    asked, told = details(usage, *ASKED), details(usage, *TOLD)
    return Usage(
        input_tokens=first_integer(usage, ("input_tokens", "prompt_tokens")),
        output_tokens=first_integer(usage, ("output_tokens", "completion_tokens")),
        cached_tokens=first_integer(asked, ("cached_tokens",)),
        reasoning_tokens=first_integer(told, ("reasoning_tokens",)),
        total_tokens=first_integer(usage, ("total_tokens",)),
    )


def details(usage: dict[str, Json], *keys: str) -> dict[str, Json]:
    """What a count is made of."""
    for key in keys:
        if isinstance(found := usage.get(key), dict):
            return found
    return {}
