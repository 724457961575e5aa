"""Firebase Genkit's spans, whose input and output are JSON."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole
from carob.traces.mapping.sources import messages_in
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_object, decode_json, text_or_none

_SUBTYPE = "genkit:metadata:subtype"
_OUTPUT = "genkit:output"
_ROLES: dict[Json, SpanRole] = {
    "flow": "workflow",
    "agent": "agent",
    "model": "model",
    "tool": "tool",
    "tool.v2": "tool",
    "retriever": "retriever",
    "embedder": "skip",
    "evaluator": "skip",
}


class Genkit(Convention):
    """Firebase Genkit."""

    name: ClassVar[str] = "genkit"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(attributes=("genkit:type",))

    usage_keys: ClassVar = (_OUTPUT,)
    agent_names: ClassVar = ("genkit:name",)
    tool_names: ClassVar = ("genkit:name",)
    models: ClassVar = ("genkit:name",)
    conversations: ClassVar = ("genkit:sessionId", "genkit:metadata:sessionId", "session.id")
    inputs: ClassVar = (messages_in("genkit:input", "user"),)
    outputs: ClassVar = (messages_in(_OUTPUT, "assistant"),)
    tool_args: ClassVar = ("genkit:input",)
    tool_results: ClassVar = (_OUTPUT,)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the subtype of an action; anything else is a step."""
        kind = span.attributes.get(_SUBTYPE)
        return _ROLES.get(kind, "chain") if isinstance(kind, str) else "chain"

    def usage(self, span: Span) -> Usage:
        """Return the counts of a model, from the provider's own response if it is recorded: those
        of Genkit leave out the details."""
        if span.attributes.get(_SUBTYPE) != "model":
            return Usage()
        output = as_object(decode_json(span.attributes.get(_OUTPUT)))
        raw = as_object(output.get("raw")).get("usage")
        return usage_of(raw) or usage_of(output.get("usage")) or Usage()

    def finish_reason(self, span: Span) -> str | None:
        """Return why the model stopped."""
        output = as_object(decode_json(span.attributes.get(_OUTPUT)))
        return text_or_none(output.get("finishReason"))
