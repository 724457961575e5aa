"""MLflow tracing, whose attributes are each JSON of their own."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    first_integer,
    messages_in,
)
from carob.traces.shape import decode_json, text_or_none

_ROLES: dict[Json, SpanRole] = {
    "LLM": "model",
    "CHAT_MODEL": "model",
    "AGENT": "agent",
    "TOOL": "tool",
    "CHAIN": "chain",
    "WORKFLOW": "workflow",
    "RETRIEVER": "retriever",
    "EVALUATOR": "skip",
}


class MlFlow(Convention):
    """MLflow's span types, inputs and outputs."""

    name: ClassVar[str] = "mlflow"
    marks: ClassVar = SpanMarks(late_attributes=("mlflow.spanType",))

    inputs: ClassVar = (messages_in("mlflow.spanInputs", "user"),)
    outputs: ClassVar = (messages_in("mlflow.spanOutputs", "assistant"),)
    conversations: ClassVar = ("mlflow.trace.session", "session.id")
    tool_args: ClassVar = ("mlflow.spanInputs",)
    tool_results: ClassVar = ("mlflow.spanOutputs",)

    def role(self, span: Span) -> SpanRole | None:
        """By the type of span."""
        kind = decode_json(span.attributes.get("mlflow.spanType"))
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        return "agent" if role == "chain" and _graph(span) == span.name else role

    def agent_name(self, span: Span) -> str | None:
        """By attribute, else by the span's name unless that is a method such as `Agent.run`."""
        named = text_or_none(decode_json(span.attributes.get("name")))
        return named or (span.name if "." not in span.name else None) or None

    def tool_name(self, span: Span) -> str | None:
        """The span bears the tool's name."""
        return span.name or None

    def model_name(self, span: Span) -> str | None:
        """By attribute, else by what was asked."""
        for key in ("mlflow.llm.model", "mlflow.chat.model"):
            if found := text_or_none(decode_json(span.attributes.get(key))):
                return found
        asked = decode_json(span.attributes.get("mlflow.spanInputs"))
        return text_or_none(asked.get("model")) if isinstance(asked, dict) else None

    def provider_name(self, span: Span) -> str | None:
        """By attribute."""
        return text_or_none(decode_json(span.attributes.get("mlflow.llm.provider")))

    def usage(self, span: Span) -> Usage:
        """By the token usage object."""
        usage = decode_json(span.attributes.get("mlflow.chat.tokenUsage"))
        if not isinstance(usage, dict):
            return Usage()
        return Usage(
            input_tokens=first_integer(usage, ("input_tokens",)),
            output_tokens=first_integer(usage, ("output_tokens",)),
            cached_tokens=first_integer(usage, ("cache_read_input_tokens",)),
            total_tokens=first_integer(usage, ("total_tokens",)),
        )


def _graph(span: Span) -> str | None:
    """The agent that LangChain says a span works for."""
    metadata = decode_json(span.attributes.get("metadata"))
    return text_or_none(metadata.get("lc_agent_name")) if isinstance(metadata, dict) else None
