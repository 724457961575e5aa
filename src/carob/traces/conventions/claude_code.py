"""Claude Code: a span per interaction, model request and tool; most content is in the log.

The arguments of a tool and the response are only in log records, and that a tool failed is in them
and in the span of its execution, which is within that of the tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from carob.schema import Json, Span, SpanEvent
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole, TokenKeys
from carob.traces.mapping.sources import MessageSource, text_in
from carob.traces.mapping.tool_spans import ToolSpan, unwrap_output
from carob.traces.messages.message import Message
from carob.traces.shape import text_or_none

_KIND = "span.type"
_ID = "tool_use_id"
_ARGS = "tool_input"
_SERVER = "anthropic.mcp.server.name"
_UNNAMED = "mcp_tool"
"""What stands for the names of MCP's tools, unless the details of tools are recorded."""
_RESPONSE = "assistant_response"
_RESULT = "tool_result"
_ROLES: dict[Json, SpanRole] = {"interaction": "workflow", "llm_request": "model", "tool": "tool"}


def _read_response(span: Span) -> list[Message] | None:
    """Read the last text of the model, unless a tool ran after it: then it was no answer."""
    events = [event for event in span.events if event.name in (_RESPONSE, _RESULT)]
    last = max(events, key=lambda event: event.time or 0, default=None)
    text = text_or_none(last.attributes.get("response")) if last is not None else None
    return None if text is None else [Message("assistant", text)]


class ClaudeCode(GenAi):
    """Anthropic's Claude Code."""

    name: ClassVar[str] = "claude-code"
    marks: ClassVar = SpanMarks(
        scopes=("com.anthropic.claude_code.tracing",),
        operation_attributes=("interaction.sequence", "tool_name_safe"),
        late_attributes=(_KIND,),
    )

    models: ClassVar = (*GenAi.models, "model")
    finishes: ClassVar = (*GenAi.finishes, "stop_reason")
    tokens: ClassVar = TokenKeys(
        input=(*GenAi.tokens.input, "input_tokens"),
        output=(*GenAi.tokens.output, "output_tokens"),
        cached=(*GenAi.tokens.cached, "cache_read_tokens"),
        cache_write=(*GenAi.tokens.cache_write, "cache_creation_tokens"),
    )
    cached_beside_input: ClassVar = True
    inputs: ClassVar = (*GenAi.inputs, text_in("user_prompt", "user"))
    outputs: ClassVar = (
        *GenAi.outputs,
        text_in("response.model_output", "assistant"),
        MessageSource(_RESPONSE, _read_response),
    )
    tool_names: ClassVar = (*GenAi.tool_names, "tool_name")
    tool_ids: ClassVar = (*GenAi.tool_ids, _ID)
    tool_args: ClassVar = (*GenAi.tool_args, _ARGS)

    def regroup(self, spans: Sequence[Span]) -> Sequence[Span] | None:
        """Complete the spans of tools from the log and from the executions within them."""
        results = {
            event.attributes.get(_ID): event
            for span in spans
            for event in span.events
            if event.name == _RESULT
        }
        failures = {
            span.parent_id: span.status_message
            for span in spans
            if span.attributes.get(_KIND) == "tool.execution" and span.status == "error"
        }
        if not results and not failures:
            return None
        return [
            _complete(span, results.get(span.attributes.get(_ID)), failures)
            if span.attributes.get(_KIND) == "tool"
            else span
            for span in spans
        ]

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the span's type; other recorders have types as well."""
        if not span.name.startswith("claude_code."):
            return super().role(span)
        kind = span.attributes.get(_KIND)
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def tool_name(self, span: Span) -> str | None:
        """Return the name by which the model called the tool, which has the server in it."""
        name = text_or_none(span.attributes.get("tool_name"))
        if name is not None and name != _UNNAMED:
            return name
        name, server = super().tool_name(span), text_or_none(span.attributes.get(_SERVER))
        return name if name is None or server is None else f"mcp__{server}__{name}"

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; its result is in an event of its own."""
        tool = super().tool(span)
        for event in span.events if tool.output is None else ():
            content = event.attributes.get("content", event.attributes.get("output"))
            if event.name == "tool.output" and content is not None:
                tool.output, tool.output_key = unwrap_output(content), event.name
        return tool


def _complete(span: Span, result: SpanEvent | None, failures: dict[str | None, str | None]) -> Span:
    """Add the arguments of a tool, and why it failed."""
    logged = {} if result is None else result.attributes
    has_failed = logged.get("success") in (False, "false") or span.span_id in failures
    reason = failures.get(span.span_id) or text_or_none(logged.get("error"))
    attributes = span.attributes
    if _ARGS not in attributes and (args := logged.get(_ARGS)) is not None:
        attributes = {**attributes, _ARGS: args}
    if not has_failed:
        return msgspec.structs.replace(span, attributes=attributes)
    return msgspec.structs.replace(
        span, attributes=attributes, status="error", status_message=reason
    )
