"""LangSmith: its OTel exporter, and its own runs. Both hold whole inputs and outputs as JSON."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole, first_text, messages_in
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.shape import decode_json, to_integer

_META = "langsmith.metadata."
_ROLES: dict[Json, SpanRole] = {
    "llm": "model",
    "tool": "tool",
    "chain": "chain",
    "retriever": "retriever",
}
_THREADS = ("thread_id", "session_id", "conversation_id")


class LangSmith(GenAi):
    """LangSmith's OTel exporter."""

    name: ClassVar[str] = "langsmith"
    marks: ClassVar = SpanMarks(attributes=("langsmith.span.kind",))

    agent_names: ClassVar = (f"{_META}lc_agent_name", "langsmith.trace.name")
    conversations: ClassVar = (*(f"{_META}{key}" for key in _THREADS), *GenAi.conversations)
    inputs: ClassVar = (messages_in("gen_ai.prompt", "user"), *GenAi.inputs[:2])
    outputs: ClassVar = (messages_in("gen_ai.completion", "assistant"), *GenAi.outputs[:2])
    tool_names: ClassVar = ("gen_ai.tool.name", "langsmith.trace.name")
    tool_args: ClassVar = (*GenAi.tool_args, "gen_ai.prompt")
    tool_results: ClassVar = (*GenAi.tool_results, "gen_ai.completion")

    def role(self, span: Span) -> SpanRole | None:
        """By the kind; a root, and a graph that bears the agent's name, are agents."""
        kind = span.attributes.get("langsmith.span.kind")
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        named = span.attributes.get(f"{_META}lc_agent_name")
        return _promoted(span, role, named)

    def tool(self, span: Span) -> ToolSpan:
        """A run that failed has outputs without anything in them."""
        return _without_nothing(super().tool(span), span)

    def usage(self, span: Span) -> Usage:
        """The attributes, with the details that only the metadata holds."""
        found = super().usage(span)
        return _detailed(found, decode_json(span.attributes.get(f"{_META}usage_metadata")))


class LangSmithRun(Convention):
    """LangSmith's own runs."""

    name: ClassVar[str] = "langsmith"
    version: ClassVar[int] = LangSmith.version
    marks: ClassVar = SpanMarks(late_attributes=("langsmith.run_type",))

    inputs: ClassVar = (messages_in("langsmith.inputs", "user"),)
    outputs: ClassVar = (messages_in("langsmith.outputs", "assistant"),)
    tool_args: ClassVar = ("langsmith.inputs",)
    tool_results: ClassVar = ("langsmith.outputs",)

    def role(self, span: Span) -> SpanRole | None:
        """By the type of run."""
        kind = span.attributes.get("langsmith.run_type")
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        return _promoted(span, role, _metadata(span).get("lc_agent_name"))

    def agent_name(self, span: Span) -> str | None:
        """By the metadata, else by the run's name."""
        return first_text(_metadata(span), ("lc_agent_name",)) or span.name or None

    def model_name(self, span: Span) -> str | None:
        """By the metadata."""
        return first_text(_metadata(span), ("ls_model_name", "model_name", "model"))

    def provider_name(self, span: Span) -> str | None:
        """By the metadata."""
        return first_text(_metadata(span), ("ls_provider",))

    def usage(self, span: Span) -> Usage:
        """By the outputs, wherever the version at hand keeps it."""
        return _detailed(
            Usage(), _find_usage(decode_json(span.attributes.get("langsmith.outputs")), 0)
        )

    def tool(self, span: Span) -> ToolSpan:
        """A run that failed has outputs without anything in them."""
        return _without_nothing(super().tool(span), span)

    def tool_name(self, span: Span) -> str | None:
        """The run bears the tool's name."""
        return span.name or None

    def conversation_id(self, span: Span) -> str | None:
        """By the metadata."""
        return first_text(_metadata(span), _THREADS)


def _without_nothing(found: ToolSpan, span: Span) -> ToolSpan:
    if span.status == "error" and found.output is not None and not found.output.value:
        found.output = None
    return found


def _promoted(span: Span, role: SpanRole | None, named: Json) -> SpanRole | None:
    if role == "chain" and (span.parent_id is None or named == span.name):
        return "agent"
    return role


def _metadata(span: Span) -> dict[str, Json]:
    extra = decode_json(span.attributes.get("langsmith.extra"))
    found = extra.get("metadata") if isinstance(extra, dict) else None
    return found if isinstance(found, dict) else {}


def _find_usage(value: Json, depth: int) -> Json:
    if depth > 8:
        return None
    if isinstance(value, list):
        return _find_usage(value[0], depth + 1) if value else None
    if not isinstance(value, dict):
        return None
    for key in ("usage_metadata", "token_usage", "usage"):
        if isinstance(value.get(key), dict):
            return value[key]
    for key in ("llm_output", "generations", "message", "kwargs", "output", "outputs", "messages"):
        if key in value and (found := _find_usage(value[key], depth + 1)):
            return found
    return None


def _detailed(found: Usage, meta: Json) -> Usage:
    if not isinstance(meta, dict):
        return found
    asked = meta.get("input_token_details") or meta.get("prompt_tokens_details")
    told = meta.get("output_token_details") or meta.get("completion_tokens_details")
    asked = asked if isinstance(asked, dict) else {}
    told = told if isinstance(told, dict) else {}

    def first(known: int | None, *values: Json) -> int | None:
        for value in values if known is None else ():
            known = known if known is not None else to_integer(value)
        return known

    return Usage(
        input_tokens=first(found.input_tokens, meta.get("input_tokens"), meta.get("prompt_tokens")),
        output_tokens=first(
            found.output_tokens, meta.get("output_tokens"), meta.get("completion_tokens")
        ),
        cached_tokens=first(
            found.cached_tokens, asked.get("cache_read"), asked.get("cached_tokens")
        ),
        cache_write_tokens=first(found.cache_write_tokens, asked.get("cache_creation")),
        reasoning_tokens=first(
            found.reasoning_tokens, told.get("reasoning"), told.get("reasoning_tokens")
        ),
        total_tokens=first(found.total_tokens, meta.get("total_tokens")),
    )
