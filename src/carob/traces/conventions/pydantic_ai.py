"""pydantic-ai v1 (events as JSON in an attribute, or logs) to v3 (OTel GenAI)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import structs

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import MessageSource, messages_in, text_in
from carob.traces.messages import events
from carob.traces.messages.message import Message
from carob.traces.messages.usage import usage_of
from carob.traces.shape import decode_json, to_text


def _read_input(span: Span) -> list[Message] | None:
    value = span.attributes.get("events")
    return None if value is None else events.read_event_list(value, outputs=False)


def _read_output(span: Span) -> list[Message] | None:
    value = span.attributes.get("events")
    return None if value is None else events.read_event_list(value, outputs=True)


def _read_run(span: Span) -> list[Message] | None:
    value = span.attributes.get("all_messages_events")
    return None if value is None else events.read_event_list(value, outputs=False)


def _join_streams(spans: Sequence[Span]) -> list[Span] | None:
    """Put the log of a streamed reply into the span of its request.

    Logfire ends the span of a request when the stream begins, and logs the reply beside it.
    """
    requests: dict[tuple[str | None, Json], Span] = {}
    joined: list[Span] = []
    for span in spans:
        attributes = span.attributes
        key = span.parent_id, to_text(attributes.get("gen_ai.input.messages"))
        if attributes.get("logfire.span_type") == "log" and key in requests:
            span = structs.replace(span, parent_id=requests[key].span_id)
        elif attributes.get("gen_ai.operation.name") == "chat":
            requests[key] = span
        joined.append(span)
    return joined if requests and joined != list(spans) else None


class PydanticAi(GenAi):
    """pydantic-ai, recorded by itself or by Logfire."""

    name: ClassVar[str] = "pydantic-ai"
    marks: ClassVar = SpanMarks(
        scopes=("pydantic-ai",),
        operation_attributes=(
            "logfire.msg",
            "model_request_parameters",
            "pydantic_ai.all_messages",
        ),
        late_attributes=("all_messages_events", "pydantic_ai.all_messages"),
    )

    agent_names: ClassVar = ("gen_ai.agent.name", "agent_name")
    models: ClassVar = (*GenAi.models, "model_name")
    inputs: ClassVar = (*GenAi.inputs, MessageSource("events", _read_input, None, ("events",)))
    outputs: ClassVar = (
        text_in("final_result", "assistant"),
        *GenAi.outputs,
        MessageSource("events", _read_output, None, ("events",)),
    )
    transcripts: ClassVar = (
        messages_in("pydantic_ai.all_messages", "user"),
        MessageSource("all_messages_events", _read_run, None, ("all_messages_events",)),
    )

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span] | None:
        """Join what Logfire recorded of streamed replies."""
        return _join_streams(spans)

    def usage(self, span: Span) -> Usage:
        """Return the counts, with the details that only the provider's own object has."""
        usage = super().usage(span)
        raw = usage_of(decode_json(span.attributes.get("gen_ai.usage.raw")))
        if raw is None:
            return usage
        return structs.replace(
            usage,
            cached_tokens=usage.cached_tokens or raw.cached_tokens,
            reasoning_tokens=usage.reasoning_tokens or raw.reasoning_tokens,
        )

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """Decide by the names and attributes of v1 and v2."""
        if span.name == "agent run" or "all_messages_events" in span.attributes:
            return "agent"
        if "gen_ai.tool.name" in span.attributes:
            return super().role_without_operation(span)
        return "agent" if "pydantic_ai.all_messages" in span.attributes else None
