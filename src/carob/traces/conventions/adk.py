"""Google ADK 1.x (whole requests and responses as JSON) and 2.x (OTel GenAI)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span, Usage
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import LANGFUSE_STORED, MessageSource, SpanMarks, SpanRole
from carob.traces.messages.message import Message
from carob.traces.messages.read import read_messages
from carob.traces.messages.usage import gemini_usage_of
from carob.traces.shape import decode_json, fold_keys, table

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
_ASIDES = ("For context:", "Continue processing previous requests", "Handle the requests as spec")
"""What ADK itself says in the user's name, when agents hand over."""


def _asked(span: Span) -> list[Message] | None:
    request = decode_json(span.attributes.get(_REQUEST))
    if not isinstance(request, dict) or "contents" not in request:
        return None
    said = read_messages(request["contents"], "user")
    return [one for one in said if not (one.text and one.text.startswith(_ASIDES))]


def _answered(span: Span) -> list[Message] | None:
    response = decode_json(span.attributes.get(_RESPONSE))
    if not isinstance(response, dict) or not isinstance(response.get("content"), dict):
        return None
    return read_messages(response["content"], "assistant")


class Adk(GenAi):
    """Google's Agent Development Kit. Its output tokens hold the reasoning tokens from 2.x on."""

    name: ClassVar[str] = "adk"
    version: ClassVar[int] = 2
    marks: ClassVar = SpanMarks(
        scopes=(_SYSTEM,),
        systems=(_SYSTEM,),
        operation_attributes=_ATTRIBUTES,
        late_attributes=_ATTRIBUTES,
        last_systems=(_SYSTEM,),
        last_names=("agent_run [", "invocation", "call_llm", "invoke_agent ", "execute_tool "),
    )

    conversations: ClassVar = ("gcp.vertex.agent.session_id", *GenAi.conversations)
    inputs: ClassVar = (MessageSource(_REQUEST, _asked, None, (_REQUEST,)), *GenAi.inputs)
    outputs: ClassVar = (MessageSource(_RESPONSE, _answered, None, (_RESPONSE,)), *GenAi.outputs)
    tool_args: ClassVar = (*GenAi.tool_args, "gcp.vertex.agent.tool_call_args")
    tool_results: ClassVar = (*GenAi.tool_results, "gcp.vertex.agent.tool_response")

    def role_without_operation(self, span: Span) -> SpanRole | None:
        """By the span's name: `agent_run [X]` has no attributes at all."""
        name = span.name
        if name == "call_llm":
            return "model"
        if name.startswith(("agent_run [", "invoke_agent ")):
            return "agent"
        if name.startswith("execute_tool ") and name != "execute_tool (merged)":
            return "tool"
        return "workflow" if name == "invocation" else super().role_without_operation(span)

    def agent_name(self, span: Span) -> str | None:
        """By attribute, else by the span's name."""
        if span.name.startswith("agent_run ["):
            return span.name[len("agent_run [") : -1] or None
        return super().agent_name(span)

    def grounding(self, span: Span) -> Sequence[Json]:
        """What the recorded response tells of its search."""
        response = span.attributes.get(_RESPONSE)
        if isinstance(response, str) and "rounding" not in response:  # in either spelling
            return ()
        found = fold_keys(table(fold_keys(table(decode_json(response))).get("groundingmetadata")))
        chunks = found.get("groundingchunks")
        return chunks if isinstance(chunks, list) else ()

    def usage(self, span: Span) -> Usage:
        """The attributes, and what only the recorded response tells."""
        found = super().usage(span)
        response = span.attributes.get(_RESPONSE) or span.attributes.get(LANGFUSE_STORED[1])
        if isinstance(response, str) and not _counts_more(response, found):
            return found
        decoded = decode_json(response)
        if not isinstance(decoded, dict):
            return found
        told = gemini_usage_of(decoded.get("usage_metadata") or decoded.get("usageMetadata"))
        return found if told is None else _together(found, told)


def _counts_more(response: str, found: Usage) -> bool:
    """Whether it is worth decoding a response, which may be long."""
    if "usage_metadata" not in response and "usageMetadata" not in response:
        return False
    return found.input_tokens is None or any(kind in response for kind in _ONLY_THERE)


_ONLY_THERE = (
    "cached_content_token_count",
    "cachedContentTokenCount",
    "thoughts_token_count",
    "thoughtsTokenCount",
    "tool_use_prompt_token_count",
    "toolUsePromptTokenCount",
)
"""Kinds of tokens that no attribute counts before 2.x."""


def _together(found: Usage, told: Usage) -> Usage:
    """What the attributes count, and where they are silent the response. The attribute for output
    leaves out the thoughts before 2.x."""
    known = {name: getattr(found, name) for name in Usage.__struct_fields__}
    stated = {name: value for name, value in known.items() if value is not None}
    made = msgspec.structs.replace(told, **stated)
    outputs = [tokens for tokens in (found.output_tokens, told.output_tokens) if tokens is not None]
    return msgspec.structs.replace(made, output_tokens=max(outputs, default=None))
