"""Promptflow's spans, whose inputs and output are JSON."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole, TokenKeys
from carob.traces.mapping.sources import messages_in

_ROLES: dict[Json, SpanRole] = {
    "Flow": "workflow",
    "LLM": "model",
    "Tool": "tool",
    "Function": "chain",
    "Retrieval": "retriever",
    "Embedding": "skip",
}


class Promptflow(Convention):
    """Microsoft's Prompt flow."""

    name: ClassVar[str] = "promptflow"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(late_attributes=("span_type",))

    models: ClassVar = ("llm.response.model", "llm.request.model")
    conversations: ClassVar = ("session_id",)
    tokens: ClassVar = TokenKeys(
        input=("llm.usage.prompt_tokens",),
        output=("llm.usage.completion_tokens",),
        total=("llm.usage.total_tokens",),
    )
    inputs: ClassVar = (messages_in("inputs", "user"),)
    outputs: ClassVar = (messages_in("output", "assistant"),)
    tool_args: ClassVar = ("inputs",)
    tool_results: ClassVar = ("output",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type; other recorders have a `span_type` as well."""
        if span.attributes.get("framework") != "promptflow":
            return None
        kind = span.attributes.get("span_type")
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def agent_name(self, span: Span) -> str | None:
        """Return nothing: a flow is not an agent."""
        return None

    def tool_name(self, span: Span) -> str | None:
        """Return the name of the span."""
        return span.name or None
