"""Google ADK 1.x (whole requests and responses as JSON) and 2.x (OTel GenAI)."""

from __future__ import annotations

from typing import ClassVar

from karat.schema import Json, Span, Usage
from karat.traces.conventions import messages
from karat.traces.conventions.convention import STORED, Source, SpanRole
from karat.traces.conventions.decoding import integer, loads
from karat.traces.conventions.genai import GenAi
from karat.traces.conventions.said import Said

_REQUEST = "gcp.vertex.agent.llm_request"
_RESPONSE = "gcp.vertex.agent.llm_response"
_ASIDES = ("For context:", "Continue processing previous requests", "Handle the requests as spec")
"""What ADK itself says in the user's name, when agents hand over."""


def _asked(span: Span) -> list[Said] | None:
    request = loads(span.attributes.get(_REQUEST))
    if not isinstance(request, dict) or "contents" not in request:
        return None
    said = messages.read(request["contents"], "user")
    return [one for one in said if not (one.text and one.text.startswith(_ASIDES))]


def _answered(span: Span) -> list[Said] | None:
    response = loads(span.attributes.get(_RESPONSE))
    if not isinstance(response, dict) or not isinstance(response.get("content"), dict):
        return None
    return messages.read(response["content"], "assistant")


class Adk(GenAi):
    """Google's Agent Development Kit. Its output tokens hold the reasoning tokens from 2.x on."""

    name: ClassVar[str] = "adk"

    conversations: ClassVar = ("gcp.vertex.agent.session_id", *GenAi.conversations)
    inputs: ClassVar = (Source(_REQUEST, _asked, None, (_REQUEST,)), *GenAi.inputs)
    outputs: ClassVar = (Source(_RESPONSE, _answered, None, (_RESPONSE,)), *GenAi.outputs)
    tool_args: ClassVar = (*GenAi.tool_args, "gcp.vertex.agent.tool_call_args")
    tool_results: ClassVar = (*GenAi.tool_results, "gcp.vertex.agent.tool_response")

    def unnamed(self, span: Span) -> SpanRole | None:
        """By the span's name: `agent_run [X]` has no attributes at all."""
        name = span.name
        if name == "call_llm":
            return "model"
        if name.startswith(("agent_run [", "invoke_agent ")):
            return "agent"
        if name.startswith("execute_tool ") and name != "execute_tool (merged)":
            return "tool"
        return "workflow" if name == "invocation" else super().unnamed(span)

    def agent(self, span: Span) -> str | None:
        """By attribute, else by the span's name."""
        if span.name.startswith("agent_run ["):
            return span.name[len("agent_run [") : -1] or None
        return super().agent(span)

    def usage(self, span: Span) -> Usage:
        """The attributes, and what only the recorded response tells."""
        found = super().usage(span)
        response = span.attributes.get(_RESPONSE) or span.attributes.get(STORED[1])
        if not isinstance(response, str) or "usage_metadata" not in response:
            return found
        if found.input_tokens is not None and not _tells_more(response):
            return found
        decoded = loads(response)
        meta = decoded.get("usage_metadata") if isinstance(decoded, dict) else None
        return _with_meta(found, meta) if isinstance(meta, dict) else found


def _tells_more(response: str) -> bool:
    return "cached_content_token_count" in response or "thoughts_token_count" in response


def _with_meta(found: Usage, meta: dict[str, Json]) -> Usage:
    def either(known: int | None, key: str) -> int | None:
        return known if known is not None else integer(meta.get(key))

    return Usage(
        input_tokens=either(found.input_tokens, "prompt_token_count"),
        output_tokens=either(found.output_tokens, "candidates_token_count"),
        cached_tokens=either(found.cached_tokens, "cached_content_token_count"),
        cache_write_tokens=found.cache_write_tokens,
        reasoning_tokens=either(found.reasoning_tokens, "thoughts_token_count"),
        total_tokens=found.total_tokens,
    )
