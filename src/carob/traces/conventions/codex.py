"""Codex: a span per turn that counts its tokens, and a span per tool; what was said is in logs."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Span
from carob.traces.mapping.convention import Convention, SpanRole, TokenKeys

COUNT = "codex.turn.token_usage."


class Codex(Convention):
    """OpenAI's Codex."""

    name: ClassVar[str] = "codex"

    models: ClassVar = ("model", "gen_ai.request.model")
    conversations: ClassVar = ("thread.id", "conversation.id")
    tokens: ClassVar = TokenKeys(
        input=(f"{COUNT}input_tokens",),
        output=(f"{COUNT}output_tokens",),
        cached=(f"{COUNT}cached_input_tokens",),
        cache_write=(f"{COUNT}cache_write_input_tokens",),
        reasoning=(f"{COUNT}reasoning_output_tokens",),
        total=(f"{COUNT}total_tokens",),
    )
    tool_names: ClassVar = ("tool_name",)
    tool_ids: ClassVar = ("call_id",)

    def role(self, span: Span) -> SpanRole | None:
        """By what is counted or named; Codex is the only agent and has no other name."""
        if f"{COUNT}input_tokens" in span.attributes:
            return "workflow"
        return "tool" if "tool_name" in span.attributes else None
