"""MLflow tracing, whose attributes are each JSON of their own."""

from __future__ import annotations

from typing import ClassVar

from karat.schema import Json, Span, Usage
from karat.traces.conventions.convention import Convention, SpanRole, attribute, first_integer
from karat.traces.conventions.decoding import loads, text

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

    inputs: ClassVar = (attribute("mlflow.spanInputs", "user"),)
    outputs: ClassVar = (attribute("mlflow.spanOutputs", "assistant"),)
    conversations: ClassVar = ("mlflow.trace.session", "session.id")
    tool_args: ClassVar = ("mlflow.spanInputs",)
    tool_results: ClassVar = ("mlflow.spanOutputs",)

    def role(self, span: Span) -> SpanRole | None:
        """By the type of span."""
        kind = loads(span.attributes.get("mlflow.spanType"))
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def agent(self, span: Span) -> str | None:
        """The span bears the agent's name."""
        return span.name or None

    def tool_name(self, span: Span) -> str | None:
        """The span bears the tool's name."""
        return span.name or None

    def model(self, span: Span) -> str | None:
        """By attribute, else by what was asked."""
        for key in ("mlflow.llm.model", "mlflow.chat.model"):
            if found := text(loads(span.attributes.get(key))):
                return found
        asked = loads(span.attributes.get("mlflow.spanInputs"))
        return text(asked.get("model")) if isinstance(asked, dict) else None

    def usage(self, span: Span) -> Usage:
        """By the token usage object."""
        usage = loads(span.attributes.get("mlflow.chat.tokenUsage"))
        if not isinstance(usage, dict):
            return Usage()
        return Usage(
            input_tokens=first_integer(usage, ("input_tokens",)),
            output_tokens=first_integer(usage, ("output_tokens",)),
            cached_tokens=first_integer(usage, ("cache_read_input_tokens",)),
            total_tokens=first_integer(usage, ("total_tokens",)),
        )
