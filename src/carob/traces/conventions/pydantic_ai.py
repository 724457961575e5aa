"""pydantic-ai v1 (events as JSON in an attribute, or logs) to v3 (OTel GenAI)."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.conventions.convention import Source, SpanRole, attribute, verbatim
from carob.traces.conventions.genai import GenAi
from carob.traces.messages import events
from carob.traces.messages.said import Said


def _asked(span: Span) -> list[Said] | None:
    value = span.attributes.get("events")
    return None if value is None else events.listed(value, answers=False)


def _answered(span: Span) -> list[Said] | None:
    value = span.attributes.get("events")
    return None if value is None else events.listed(value, answers=True)


def _run(span: Span) -> list[Said] | None:
    value = span.attributes.get("all_messages_events")
    return None if value is None else events.listed(value, answers=False)


class PydanticAi(GenAi):
    """pydantic-ai, as itself or through logfire."""

    name: ClassVar[str] = "pydantic-ai"

    agent_names: ClassVar = ("gen_ai.agent.name", "agent_name")
    models: ClassVar = (*GenAi.models, "model_name")
    inputs: ClassVar = (*GenAi.inputs, Source("events", _asked, None, ("events",)))
    outputs: ClassVar = (
        verbatim("final_result", "assistant"),
        *GenAi.outputs,
        Source("events", _answered, None, ("events",)),
    )
    transcripts: ClassVar = (
        attribute("pydantic_ai.all_messages", "user"),
        Source("all_messages_events", _run, None, ("all_messages_events",)),
    )

    def unnamed(self, span: Span) -> SpanRole | None:
        """By what v1 and v2 call their spans."""
        if span.name == "agent run" or "all_messages_events" in span.attributes:
            return "agent"
        if "gen_ai.tool.name" in span.attributes:
            return super().unnamed(span)
        return "agent" if "pydantic_ai.all_messages" in span.attributes else None
