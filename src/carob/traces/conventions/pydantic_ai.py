"""pydantic-ai v1 (events as JSON in an attribute, or logs) to v3 (OTel GenAI)."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import MessageSource, SpanMarks, SpanRole, messages_in, text_in
from carob.traces.messages import events
from carob.traces.messages.message import Message


def _asked(span: Span) -> list[Message] | None:
    value = span.attributes.get("events")
    return None if value is None else events.read_event_list(value, outputs=False)


def _answered(span: Span) -> list[Message] | None:
    value = span.attributes.get("events")
    return None if value is None else events.read_event_list(value, outputs=True)


def _run(span: Span) -> list[Message] | None:
    value = span.attributes.get("all_messages_events")
    return None if value is None else events.read_event_list(value, outputs=False)


class PydanticAi(GenAi):
    """pydantic-ai, as itself or through logfire."""

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
    inputs: ClassVar = (*GenAi.inputs, MessageSource("events", _asked, None, ("events",)))
    outputs: ClassVar = (
        text_in("final_result", "assistant"),
        *GenAi.outputs,
        MessageSource("events", _answered, None, ("events",)),
    )
    transcripts: ClassVar = (
        messages_in("pydantic_ai.all_messages", "user"),
        MessageSource("all_messages_events", _run, None, ("all_messages_events",)),
    )

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """By what v1 and v2 call their spans."""
        if span.name == "agent run" or "all_messages_events" in span.attributes:
            return "agent"
        if "gen_ai.tool.name" in span.attributes:
            return super().role_without_operation(span)
        return "agent" if "pydantic_ai.all_messages" in span.attributes else None
