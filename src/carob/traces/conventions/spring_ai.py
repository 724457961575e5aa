"""Spring AI: OTel GenAI for models, its own attributes for clients and tools."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import text_in

_ROLES: dict[Json, SpanRole] = {"chat_client": "workflow", "tool_call": "tool"}


class SpringAi(GenAi):
    """Spring AI's clients and tools."""

    name: ClassVar[str] = "spring-ai"
    marks: ClassVar = SpanMarks(systems=("spring_ai",))

    conversations: ClassVar = ("spring.ai.chat.client.conversation.id", *GenAi.conversations)
    inputs: ClassVar = (*GenAi.inputs, text_in("spring.ai.chat.client.user.text", "user"))
    tool_names: ClassVar = ("spring.ai.tool.definition.name", *GenAi.tool_names)
    tool_args: ClassVar = ("spring.ai.tool.call.arguments", *GenAi.tool_args)
    tool_results: ClassVar = ("spring.ai.tool.call.result", *GenAi.tool_results)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by Spring's own kind, else by the operation."""
        kind = span.attributes.get("spring.ai.kind")
        return _ROLES.get(kind) if isinstance(kind, str) else super().role(span)
