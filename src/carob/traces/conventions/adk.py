"""Google ADK 1.x (whole requests and responses as JSON) and 2.x (OTel GenAI)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole, first_integer
from carob.traces.mapping.sources import LANGFUSE_STORED, MessageSource
from carob.traces.messages.message import Message, Role
from carob.traces.messages.read import read_messages
from carob.traces.messages.usage import gemini_usage_of, include_cached
from carob.traces.shape import as_object, decode_json, fold_keys

_SYSTEM = "gcp.vertex.agent"
_REQUEST = "gcp.vertex.agent.llm_request"
_RESPONSE = "gcp.vertex.agent.llm_response"
_ATTRIBUTES = (
    "gcp.vertex.agent.event_id",
    "gcp.vertex.agent.session_id",
    "gcp.vertex.agent.invocation_id",
    _REQUEST,
    _RESPONSE,
    "gcp.vertex.agent.tool_call_args",
    "gcp.vertex.agent.tool_response",
)
"""Attributes that only ADK writes; not every span has all of them."""
_THOUGHTS = GenAi.tokens.reasoning
_HANDOVER_TEXTS = (
    "For context:",
    "Continue processing previous requests",
    "Handle the requests as spec",
)
"""Texts that ADK itself adds in the user's name when agents hand over."""


def _read_request(span: Span) -> list[Message] | None:
    request = decode_json(span.attributes.get(_REQUEST))
    if not isinstance(request, dict) or "contents" not in request:
        return None
    return [
        message
        for message in read_messages(request["contents"], "user")
        if not (message.text and message.text.startswith(_HANDOVER_TEXTS))
    ]


def _read_response(span: Span) -> list[Message] | None:
    response = decode_json(span.attributes.get(_RESPONSE))
    if not isinstance(response, dict) or not isinstance(response.get("content"), dict):
        return None
    return read_messages(response["content"], "assistant")


def _without_thoughts(source: MessageSource) -> MessageSource:
    """A source of what the model returned, in which ADK does not mark thoughts: the first text of
    several is one, if the model thought at all."""

    def drop(messages: list[Message] | None, span: Span) -> list[Message] | None:
        for message in messages or ():
            if message.first_length and message.text and first_integer(span.attributes, _THOUGHTS):
                message.text = message.text[message.first_length :]
        return messages

    def read(span: Span) -> list[Message] | None:
        return drop(source.read(span), span)

    def read_last(span: Span, text_role: Role) -> list[Message] | None:
        messages = source.read_last(span, text_role) if source.read_last else source.read(span)
        return drop(messages, span)

    return MessageSource(source.key, read, read_last, source.attributes)


class Adk(GenAi):
    """Google's Agent Development Kit. From 2.x on, output tokens include reasoning tokens."""

    name: ClassVar[str] = "adk"
    version: ClassVar[int] = 4
    marks: ClassVar = SpanMarks(
        scopes=(_SYSTEM,),
        systems=(_SYSTEM,),
        operation_attributes=_ATTRIBUTES,
        late_attributes=_ATTRIBUTES,
        last_systems=(_SYSTEM,),
        last_names=("agent_run [", "invocation", "call_llm", "invoke_agent ", "execute_tool "),
    )

    usage_keys: ClassVar = (_RESPONSE, LANGFUSE_STORED[1])
    conversations: ClassVar = ("gcp.vertex.agent.session_id", *GenAi.conversations)
    inputs: ClassVar = (MessageSource(_REQUEST, _read_request, None, (_REQUEST,)), *GenAi.inputs)
    outputs: ClassVar = (
        MessageSource(_RESPONSE, _read_response, None, (_RESPONSE,)),
        *map(_without_thoughts, GenAi.outputs),
    )
    tool_args: ClassVar = (*GenAi.tool_args, "gcp.vertex.agent.tool_call_args")
    tool_results: ClassVar = (*GenAi.tool_results, "gcp.vertex.agent.tool_response")

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """Decide by the span's name: `agent_run [X]` has no attributes at all."""
        name = span.name
        if name == "call_llm":
            return "model"
        if name.startswith(("agent_run [", "invoke_agent ")):
            return "agent"
        if name.startswith("execute_tool ") and name != "execute_tool (merged)":
            return "tool"
        return "workflow" if name == "invocation" else super().role_without_operation(span)

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the name in the span's name."""
        if span.name.startswith("agent_run ["):
            return span.name[len("agent_run [") : -1] or None
        return super().agent_name(span)

    def grounding(self, span: Span) -> Sequence[Json]:
        """Return the chunks in the recorded response."""
        response = span.attributes.get(_RESPONSE)
        if isinstance(response, str) and "rounding" not in response:  # in either spelling
            return ()
        fields = fold_keys(as_object(decode_json(response)))
        chunks = fold_keys(as_object(fields.get("groundingmetadata"))).get("groundingchunks")
        return chunks if isinstance(chunks, list) else ()

    def usage(self, span: Span) -> Usage:
        """Return the counts of the attributes, completed from the recorded response."""
        counted = super().usage(span)
        response = span.attributes.get(_RESPONSE) or span.attributes.get(LANGFUSE_STORED[1])
        if isinstance(response, str) and not _counts_more(response, counted):
            return counted
        decoded = decode_json(response)
        if not isinstance(decoded, dict):
            return counted
        reported = gemini_usage_of(decoded.get("usage_metadata") or decoded.get("usageMetadata"))
        return counted if reported is None else _merge_usage(counted, reported)


def _counts_more(response: str, counted: Usage) -> bool:
    """Whether it is worth decoding a response, which may be long."""
    if "usage_metadata" not in response and "usageMetadata" not in response:
        return False
    return counted.input_tokens is None or any(kind in response for kind in _RESPONSE_ONLY)


_RESPONSE_ONLY = (
    "cached_content_token_count",
    "cachedContentTokenCount",
    "thoughts_token_count",
    "thoughtsTokenCount",
    "tool_use_prompt_token_count",
    "toolUsePromptTokenCount",
)
"""Kinds of tokens that no attribute counts before 2.x."""


def _merge_usage(counted: Usage, reported: Usage) -> Usage:
    """Prefer the attributes. Before 2.x the output attribute does not include the thoughts, so the
    larger count is right."""
    counts = {name: getattr(counted, name) for name in Usage.__struct_fields__}
    counts_present = {name: value for name, value in counts.items() if value is not None}
    merged = msgspec.structs.replace(reported, **counts_present)
    both = (counted.output_tokens, reported.output_tokens)
    outputs = [tokens for tokens in both if tokens is not None]
    merged = msgspec.structs.replace(merged, output_tokens=max(outputs, default=None))
    return include_cached(merged)
