"""LangWatch, whose inputs and outputs say which type of value they are."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span
from carob.traces.conventions.genai import GenAi
from carob.traces.mapping.convention import SpanMarks, SpanRole
from carob.traces.mapping.sources import MessageSource
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.messages.message import Message, Role
from carob.traces.messages.read import read_messages
from carob.traces.shape import decode_json, text_or_none

_KIND = "langwatch.span.type"
_INPUT, _OUTPUT = "langwatch.input", "langwatch.output"
_ROLES: dict[Json, SpanRole] = {
    "agent": "agent",
    "llm": "model",
    "tool": "tool",
    "workflow": "workflow",
    "rag": "retriever",
    "guardrail": "skip",
    "evaluation": "skip",
    "chain": "chain",
    "span": "chain",
    "component": "chain",
    "module": "chain",
    "task": "chain",
}


def _typed_messages_in(key: str, role: Role) -> MessageSource:
    """Messages, or a bare text, in the value of an attribute that also holds its type."""

    def read(span: Span) -> list[Message] | None:
        value = span.attributes.get(key)
        return None if value is None else read_messages(_untyped(value), role)

    return MessageSource(key, read, None, (key,))


def _untyped(value: Json) -> Json:
    """Return the value in `{"type": "json", "value": …}`."""
    typed = decode_json(value)
    if isinstance(typed, dict) and typed.keys() == {"type", "value"}:
        return typed["value"]
    return value


class LangWatch(GenAi):
    """The spans of LangWatch's SDK; those of its instrumentations have conventions of their own."""

    name: ClassVar[str] = "langwatch"
    marks: ClassVar = SpanMarks(yields_to_scope=True, late_attributes=(_KIND, _INPUT, _OUTPUT))

    conversations: ClassVar = ("langwatch.thread.id", *GenAi.conversations)
    inputs: ClassVar = (*GenAi.inputs, _typed_messages_in(_INPUT, "user"))
    outputs: ClassVar = (*GenAi.outputs, _typed_messages_in(_OUTPUT, "assistant"))
    tool_args: ClassVar = (*GenAi.tool_args, _INPUT)
    tool_results: ClassVar = (*GenAi.tool_results, _OUTPUT)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type; a span without one is a step."""
        return _ROLES.get(span.attributes.get(_KIND, "span")) or super().role(span)

    def agent_name(self, span: Span) -> str | None:
        """Return the attribute, else the name of an agent's span."""
        is_agent = span.attributes.get(_KIND) == "agent"
        return super().agent_name(span) or (span.name or None if is_agent else None)

    def tool_name(self, span: Span) -> str | None:
        """Return the attribute, else the name of the span."""
        return super().tool_name(span) or span.name or None

    def tool(self, span: Span) -> ToolSpan:
        """Return the call, without the types of its arguments."""
        tool = super().tool(span)
        if tool.args_key == _INPUT:
            tool.raw_args = _untyped(tool.raw_args)
        return tool

    def conversation_id(self, span: Span) -> str | None:
        """Return the thread, else the one in the metadata of the trace."""
        if thread := super().conversation_id(span):
            return thread
        metadata = decode_json(span.attributes.get("metadata"))
        return text_or_none(metadata.get("thread_id")) if isinstance(metadata, dict) else None
