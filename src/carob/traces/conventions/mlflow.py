"""MLflow tracing, whose attributes are each JSON of their own."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in
from carob.traces.messages.usage import complete_usage, usage_of
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
    version: ClassVar[int] = 2
    marks: ClassVar = SpanMarks(late_attributes=("mlflow.spanType",))

    usage_keys: ClassVar = ("mlflow.chat.tokenUsage",)
    inputs: ClassVar = (messages_in("mlflow.spanInputs", "user"),)
    outputs: ClassVar = (messages_in("mlflow.spanOutputs", "assistant"),)
    conversations: ClassVar = ("mlflow.trace.session", "session.id")
    tool_args: ClassVar = ("mlflow.spanInputs",)
    tool_results: ClassVar = ("mlflow.spanOutputs",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the span."""
        kind = decode_json(span.attributes.get("mlflow.spanType"))
        role = _ROLES.get(kind) if isinstance(kind, str) else None
        return "agent" if role == "chain" and _agent_of(span) == span.name else role

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the span's name unless it is a method such as `Agent.run`."""
        name = text_or_none(decode_json(span.attributes.get("name")))
        return name or (span.name if "." not in span.name else None) or None

    def tool_name(self, span: Span) -> str | None:
        """Return the span's name, without the class that DSPy's tools have before theirs."""
        return span.name.removeprefix("Tool.") or None

    def model_name(self, span: Span) -> str | None:
        """Return the attribute, else the model in the inputs."""
        for key in ("mlflow.llm.model", "mlflow.chat.model"):
            if name := text_or_none(decode_json(span.attributes.get(key))):
                return name
        inputs = decode_json(span.attributes.get("mlflow.spanInputs"))
        return text_or_none(inputs.get("model")) if isinstance(inputs, dict) else None

    def provider_name(self, span: Span) -> str | None:
        """Return the attribute."""
        return text_or_none(decode_json(span.attributes.get("mlflow.llm.provider")))

    def usage(self, span: Span) -> Usage:
        """Return the counts of the token usage object, which leaves out the reasoning, completed
        from those of the response."""
        usage = usage_of(decode_json(span.attributes.get("mlflow.chat.tokenUsage")))
        if usage is None:
            return Usage()
        response = decode_json(span.attributes.get("mlflow.spanOutputs"))
        counts = response.get("usage") if isinstance(response, dict) else None
        return complete_usage(usage, usage_of(counts) or Usage())


def _agent_of(span: Span) -> str | None:
    """The agent that a span works for, in LangChain's metadata."""
    metadata = decode_json(span.attributes.get("metadata"))
    return text_or_none(metadata.get("lc_agent_name")) if isinstance(metadata, dict) else None
