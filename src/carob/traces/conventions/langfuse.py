"""Langfuse's SDK, and its exports where the original attributes are gone."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.conventions.openai_agents import ASKED, TOLD, details
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    first_integer,
    messages_in,
)
from carob.traces.shape import decode_json

_CACHED = (
    "input_cached_tokens",
    "input_cache_read",
    "cache_read_input_tokens",
    "cached_tokens",
)
_REASONING = ("output_reasoning_tokens", "output_reasoning", "reasoning_tokens")
_ADK_RUN = "agent_run ["
"""How ADK names a span to which it gives no attributes."""
_AGENT = "langfuse.observation.metadata.lc_agent_name"
"""The agent that LangChain says a span works for."""
_KIND = "langfuse.observation.type"
_GENAI = GenAi()
_ROLES: dict[Json, SpanRole] = {
    "generation": "model",
    "agent": "agent",
    "tool": "tool",
    "span": "chain",
    "chain": "chain",
    "retriever": "retriever",
    "evaluator": "skip",
}


class Langfuse(Convention):
    """Langfuse observations."""

    name: ClassVar[str] = "langfuse"
    marks: ClassVar = SpanMarks(late_attributes=(_KIND,), yields_to_scope=True)

    agent_names: ClassVar = ("gen_ai.agent.name",)
    models: ClassVar = ("langfuse.observation.model.name", *GenAi.models)
    conversations: ClassVar = ("langfuse.session.id", "session.id", "gen_ai.conversation.id")
    inputs: ClassVar = (
        messages_in("langfuse.observation.input", "user"),
        *GenAi.inputs[:-1],
        messages_in("langfuse.trace.input", "user"),
    )
    outputs: ClassVar = (
        messages_in("langfuse.observation.output", "assistant"),
        *GenAi.outputs[:-1],
        messages_in("langfuse.trace.output", "assistant"),
    )
    tokens: ClassVar = GenAi.tokens
    tool_names: ClassVar = GenAi.tool_names
    tool_ids: ClassVar = GenAi.tool_ids
    tool_args: ClassVar = ("langfuse.observation.input", *GenAi.tool_args)
    tool_results: ClassVar = ("langfuse.observation.output", *GenAi.tool_results)

    def role(self, span: Span) -> SpanRole | None:
        """By the type of observation."""
        kind = span.attributes.get(_KIND)
        if span.name.startswith(_ADK_RUN):
            return "agent"
        role = _ROLES.get(kind.lower()) if isinstance(kind, str) else None
        if role == "chain" and decode_json(span.attributes.get(_AGENT)) == span.name:
            return "agent"
        return _GENAI.role_without_operation(span) or role if role == "chain" else role

    def agent_name(self, span: Span) -> str | None:
        """An observation bears the agent's name."""
        if span.name.startswith(_ADK_RUN):
            return span.name[len(_ADK_RUN) : -1] or None
        return super().agent_name(span) or span.name or None

    def tool_name(self, span: Span) -> str | None:
        """By attribute, else an observation bears the tool's name."""
        return super().tool_name(span) or span.name or None

    def usage(self, span: Span) -> Usage:
        """By the usage details, in Langfuse's words or in the provider's."""
        usage = decode_json(span.attributes.get("langfuse.observation.usage_details"))
        if not isinstance(usage, dict):
            return super().usage(span)
        asked, told = details(usage, *ASKED), details(usage, *TOLD)
        return Usage(
            input_tokens=_whole(usage, ("input", "input_tokens", "prompt_tokens")),
            output_tokens=_whole(usage, ("output", "output_tokens", "completion_tokens")),
            cached_tokens=first_integer(usage | asked, _CACHED),
            reasoning_tokens=first_integer(usage | told, _REASONING),
            total_tokens=first_integer(usage, ("total", "total_tokens")),
        )


def _whole(usage: dict[str, Json], keys: tuple[str, ...]) -> int | None:
    """A count with its details, as `input_cache_read`, where the total shows them taken out."""
    found = first_integer(usage, keys)
    counts = {key: count for key, count in usage.items() if type(count) is int}
    total = counts.pop("total", None)
    inner = sum(count for key, count in counts.items() if key.startswith(f"{keys[0]}_"))
    taken_out = inner and total is not None and sum(counts.values()) == total
    return found + inner if found is not None and taken_out else found
