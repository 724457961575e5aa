"""Vercel AI SDK v3 to v6 (`ai.*`); v7 writes OTel GenAI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import (
    Convention,
    SpanMarks,
    SpanRole,
    TokenKeys,
)
from carob.traces.mapping.sources import (
    LANGFUSE_INPUT,
    LANGFUSE_OUTPUT,
    LANGFUSE_STORED,
    MessageSource,
    messages_in,
)
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import Message
from carob.traces.shape import to_text

_METADATA = "ai.telemetry.metadata."


_ANSWERS = tuple(
    f"ai.{prefix}.{field}"
    for prefix in ("response", "result")  # `result` in v3
    for field in ("text", "object", "toolCalls")
)


def _read_output(span: Span) -> list[Message] | None:
    attributes = span.attributes
    text = _either(attributes, "text")
    structured = _either(attributes, "object")
    calls = _either(attributes, "toolCalls")
    if text is None and structured is None and calls is None:
        return None
    message = Message("assistant")
    if calls is not None:
        message = read_message({"role": "assistant", "tool_calls": calls}, "assistant")
    if text or structured is not None:
        message.text = to_text(text or structured)
    elif text is not None:
        message.text = ""
    return [message]


def _either(attributes: dict[str, Json], field: str) -> Json:
    value = attributes.get(f"ai.response.{field}")
    return attributes.get(f"ai.result.{field}") if value is None else value


def _has_copied_error(span: Span) -> bool:
    if span.status != "error":
        return False
    if "ai.toolCall.name" in span.attributes:  # a tool that failed has no result
        return not span.attributes.keys().isdisjoint(("ai.toolCall.result", "ai.toolCall.output"))
    if span.attributes.get("ai.response.finishReason") == "error":
        return False
    return not span.attributes.keys().isdisjoint(("ai.response.finishReason", *_ANSWERS))


class Vercel(Convention):
    """Vercel's AI SDK up to v6. By version, an agent's usage is its last step's or the total."""

    name: ClassVar[str] = "vercel"
    version: ClassVar[int] = 3
    marks: ClassVar = SpanMarks(attributes=("ai.operationId",), last_scopes=("ai",))

    agent_names: ClassVar = ("ai.telemetry.functionId", "gen_ai.agent.name")
    models: ClassVar = ("ai.model.id", "gen_ai.request.model", "ai.response.model")
    providers: ClassVar = ("ai.model.provider", "gen_ai.system")
    finishes: ClassVar = ("ai.response.finishReason", "ai.finishReason", *GenAi.finishes)
    conversations: ClassVar = (
        *(f"{_METADATA}{key}" for key in ("sessionId", "session_id", "threadId", "thread_id")),
        *(f"{_METADATA}{key}" for key in ("conversationId", "chatId")),
        *GenAi.conversations,
    )
    tokens: ClassVar = TokenKeys(
        input=("ai.usage.inputTokens", "ai.usage.promptTokens", *GenAi.tokens.input),
        output=("ai.usage.outputTokens", "ai.usage.completionTokens", *GenAi.tokens.output),
        cached=(
            "ai.usage.cachedInputTokens",
            "ai.usage.inputTokenDetails.cacheReadTokens",
            *GenAi.tokens.cached,
        ),
        cache_write=("ai.usage.inputTokenDetails.cacheWriteTokens", *GenAi.tokens.cache_write),
        reasoning=(
            "ai.usage.reasoningTokens",
            "ai.usage.outputTokenDetails.reasoningTokens",
            *GenAi.tokens.reasoning,
        ),
        total=("ai.usage.totalTokens", "ai.usage.tokens", *GenAi.tokens.total),
    )
    inputs: ClassVar = (
        messages_in("ai.prompt.messages", "user"),
        messages_in("ai.prompt", "user"),
        LANGFUSE_INPUT,
    )
    outputs: ClassVar = (
        MessageSource("ai.response.text", _read_output, None, _ANSWERS),
        LANGFUSE_OUTPUT,
    )
    tool_names: ClassVar = ("ai.toolCall.name",)
    tool_ids: ClassVar = ("ai.toolCall.id",)
    tool_args: ClassVar = ("ai.toolCall.args", "ai.toolCall.input", LANGFUSE_STORED[0])
    tool_results: ClassVar = ("ai.toolCall.result", "ai.toolCall.output", LANGFUSE_STORED[1])

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span] | None:
        """Clear the errors of model calls and tools that finished: OpenInference's processor copies
        an error to everything around and after it."""
        if not any(map(_has_copied_error, spans)):
            return None
        return [
            msgspec.structs.replace(span, status="unset", status_message=None)
            if _has_copied_error(span)
            else span
            for span in spans
        ]

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the operation: a call of the SDK, a request to the provider, or a tool."""
        operation = span.attributes.get("ai.operationId", span.name)  # v3 had only the name
        if not isinstance(operation, str):
            return None
        if operation.endswith((".doGenerate", ".doStream")):
            return "model"
        if operation == "ai.toolCall":
            return "tool"
        return "agent" if operation.startswith(("ai.generate", "ai.stream")) else None


class VercelGenAi(GenAi):
    """Vercel's AI SDK from v7 on."""

    name: ClassVar[str] = "vercel"
    version: ClassVar[int] = Vercel.version
    marks: ClassVar = SpanMarks(scopes=("gen_ai",))
