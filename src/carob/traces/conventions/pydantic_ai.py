"""pydantic-ai v1 (events as JSON in an attribute, or logs) to v3 (OTel GenAI)."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import MessageSource, SpanMarks, SpanRole, messages_in, text_in
from carob.traces.messages import events
from carob.traces.messages.message import Message


def _read_input(span: Span) -> list[Message] | None:
    value = span.attributes.get("events")
    return None if value is None else events.read_event_list(value, outputs=False)


def _read_output(span: Span) -> list[Message] | None:
    value = span.attributes.get("events")
    return None if value is None else events.read_event_list(value, outputs=True)


def _read_run(span: Span) -> list[Message] | None:
    value = span.attributes.get("all_messages_events")
    return None if value is None else events.read_event_list(value, outputs=False)


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

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """Decide by the names and attributes of v1 and v2."""
        if span.name == "agent run" or "all_messages_events" in span.attributes:
            return "agent"
        if "gen_ai.tool.name" in span.attributes:
            return super().role_without_operation(span)
        return "agent" if "pydantic_ai.all_messages" in span.attributes else None
