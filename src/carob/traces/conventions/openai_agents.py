"""The OpenAI Agents SDK's own export; its instrumentations speak other conventions."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import (
    Convention,
    SpanRole,
    ToolSpan,
    first_integer,
    messages_in,
)
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

    def agent(self, span: Span) -> str | None:
        """A trace's name is the workflow's."""
        trace = span.attributes.get("openai_agents.type") == "trace"
        return None if trace else super().agent(span)

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
