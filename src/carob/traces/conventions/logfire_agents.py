"""The OpenAI Agents SDK as Logfire records it: the SDK's own fields, each an attribute."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.conventions.openai_agents import OpenAiAgents, counted
from carob.traces.mapping.convention import SpanRole, messages_in
from carob.traces.shape import decode_json

SCOPE = "logfire.openai_agents"
_ROLES: dict[str, SpanRole] = {
    "OpenAI Agents trace": "workflow",
    "Agent run": "agent",
    "Responses API": "model",
    "Chat completion": "model",
    "Function": "tool",
}
"""How the names of spans begin."""


class LogfireAgents(GenAi):
    """Logfire's instrumentation of the OpenAI Agents SDK."""

    name: ClassVar[str] = "openai-agents"
    version: ClassVar[int] = OpenAiAgents.version

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
        for begin, role in _ROLES.items():
            if span.name.startswith(begin):
                return role
        return None

    def agent(self, span: Span) -> str | None:
        """A trace's name is the workflow's."""
        return super().agent(span) if span.name.startswith("Agent run") else None

    def conversation(self, span: Span) -> str | None:
        """The group of traces, which may be none."""
        found = super().conversation(span)
        return None if found == "null" else found

    def usage(self, span: Span) -> Usage:
        """By the SDK's own count, which has the details."""
        told: Json = decode_json(span.attributes.get("usage"))
        return counted(told) if isinstance(told, dict) else super().usage(span)
