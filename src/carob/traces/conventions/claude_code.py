"""Claude Code: a span per interaction, model request and tool; hardly any content."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole, TokenKeys
from carob.traces.mapping.sources import text_in
from carob.traces.mapping.tool_spans import ToolSpan, unwrap_output

_KIND = "span.type"
_ROLES: dict[Json, SpanRole] = {"interaction": "workflow", "llm_request": "model", "tool": "tool"}


class ClaudeCode(GenAi):
    """Anthropic's Claude Code."""

    name: ClassVar[str] = "claude-code"
    marks: ClassVar = SpanMarks(late_attributes=(_KIND,))

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
    outputs: ClassVar = (*GenAi.outputs, text_in("response.model_output", "assistant"))
    tool_names: ClassVar = (*GenAi.tool_names, "tool_name")
    tool_ids: ClassVar = (*GenAi.tool_ids, "tool_use_id")
    tool_args: ClassVar = (*GenAi.tool_args, "tool_input")

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the span's type; other recorders have types as well."""
        if not span.name.startswith("claude_code."):
            return super().role(span)
        kind = span.attributes.get(_KIND)
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; its result is in an event of its own."""
        tool = super().tool(span)
        for event in span.events if tool.output is None else ():
            content = event.attributes.get("content")
            if event.name == "tool.output" and content is not None:
                tool.output, tool.output_key = unwrap_output(content), event.name
        return tool
