"""VoltAgent's spans, which hold input and output beside the type of the span."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole, TokenKeys
from carob.traces.mapping.sources import messages_in

_ROLES: dict[Json, SpanRole] = {"agent": "agent", "llm": "model", "tool": "tool"}


class VoltAgent(Convention):
    """VoltAgent."""

    name: ClassVar[str] = "voltagent"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(own_scopes=("@voltagent/core",))

    agent_names: ClassVar = ("entity.name",)
    models: ClassVar = ("llm.model", "ai.model.name")
    finishes: ClassVar = ("llm.finish_reason",)
    conversations: ClassVar = ("conversation.id",)
    # The span of the model is around all calls of a run, and counts only the last of them.
    tokens: ClassVar = TokenKeys(
        input=("usage.prompt_tokens",),
        output=("usage.completion_tokens",),
        cached=("usage.cached_tokens",),
        reasoning=("usage.reasoning_tokens",),
        total=("usage.total_tokens",),
    )
    inputs: ClassVar = (messages_in("input", "user"), messages_in("llm.messages", "user"))
    outputs: ClassVar = (messages_in("output", "assistant"),)
    tool_names: ClassVar = ("tool.name",)
    tool_ids: ClassVar = ("tool.call.id",)
    tool_args: ClassVar = ("input",)
    tool_results: ClassVar = ("output",)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type. The span of the agent itself has none, but the agent's state."""
        kind = span.attributes.get("span.type")
        if kind is None and "agent.state" in span.attributes:
            return "agent"
        return _ROLES.get(kind) if isinstance(kind, str) else None
