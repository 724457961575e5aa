"""Codex: a span per turn with its token counts, and a span per tool; messages are in logs."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    TokenKeys,
)

_USAGE = "codex.turn.token_usage."


class Codex(Convention):
    """OpenAI's Codex."""

    name: ClassVar[str] = "codex"
    version: ClassVar[int] = 2
    marks: ClassVar = SpanMarks(late_attributes=(f"{_USAGE}input_tokens", "tool_name"))

    models: ClassVar = ("model", "gen_ai.request.model")
    conversations: ClassVar = ("thread.id", "conversation.id")
    tokens: ClassVar = TokenKeys(
        input=(f"{_USAGE}input_tokens",),
        output=(f"{_USAGE}output_tokens",),
        cached=(f"{_USAGE}cached_input_tokens",),
        cache_write=(f"{_USAGE}cache_write_input_tokens",),
        reasoning=(f"{_USAGE}reasoning_output_tokens",),
        total=(f"{_USAGE}total_tokens",),
    )
    tool_names: ClassVar = ("tool_name",)
    tool_ids: ClassVar = ("call_id",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the token counts and the tool name."""
        if f"{_USAGE}input_tokens" in span.attributes:
            return "workflow"
        return "tool" if "tool_name" in span.attributes else None
