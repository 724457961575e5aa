"""Opik's own spans, from its API and its export."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in
from carob.traces.messages.usage import usage_of
from carob.traces.shape import decode_json

_ROLES: dict[Json, SpanRole] = {
    "trace": "workflow",
    "llm": "model",
    "tool": "tool",
    "general": "chain",
    "guardrail": "skip",
}


class Opik(Convention):
    """Spans with Opik's types."""

    name: ClassVar[str] = "opik"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(late_attributes=("opik.type",))

    models: ClassVar = ("opik.model",)
    providers: ClassVar = ("opik.provider",)
    conversations: ClassVar = ("opik.thread_id",)
    inputs: ClassVar = (messages_in("opik.input", "user"),)
    outputs: ClassVar = (messages_in("opik.output", "assistant"),)
    tool_args: ClassVar = ("opik.input",)
    tool_results: ClassVar = ("opik.output",)
    usage_keys: ClassVar = ("opik.usage",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the span."""
        kind = span.attributes.get("opik.type")
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def agent_name(self, span: Span) -> str | None:
        """Return nothing: Opik records no agents, and the name of a trace is not one."""
        return None

    def tool_name(self, span: Span) -> str | None:
        """Return the name of the span."""
        return span.name or None

    def usage(self, span: Span) -> Usage:
        """Return the counts under OpenAI's names, which Opik gives to every provider's."""
        return usage_of(decode_json(span.attributes.get("opik.usage"))) or Usage()
