"""Monocle: entities in numbered attributes, and what went in and out in events of the span."""

from __future__ import annotations

from typing import ClassVar

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import Convention, SpanMarks, SpanRole
from carob.traces.mapping.sources import MessageSource
from carob.traces.mapping.tool_spans import ToolSpan, unwrap_output
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import CallBlock, Message, Role, role_of
from carob.traces.messages.usage import usage_of
from carob.traces.shape import (
    as_array,
    as_object,
    decode_json,
    first_value,
    parse_literal,
    text_or_none,
)

_ROLES: dict[Json, SpanRole] = {
    "workflow": "workflow",
    "agentic.request": "workflow",
    "agentic.turn": "workflow",
    "agentic.invocation": "agent",
    "agentic.tool.invocation": "tool",
    "agentic.mcp.invocation": "tool",
    "inference": "model",
    "inference.framework": "model",
    "retrieval": "retriever",
}
_INPUT, _OUTPUT = ("data.input", ("input", "Inputs", "inputs")), ("data.output", ("response",))


def _event_value(span: Span, name: str, keys: tuple[str, ...]) -> Json:
    for event in span.events:
        if event.name == name and (value := first_value(event.attributes, *keys)) is not None:
            return value
    return None


def messages_in_event(name: str, keys: tuple[str, ...], *, role: Role) -> MessageSource:
    """Messages in an attribute of an event."""

    def read(span: Span) -> list[Message] | None:
        value = _event_value(span, name, keys)
        if value is None:
            return None
        return [_read_message(_decode(item), role) for item in as_array(value) or [value]]

    return MessageSource(name, read)


def _decode(item: Json) -> Json:
    """The value of a text that holds JSON or, as some frameworks' recorders write, a Python
    object."""
    value = decode_json(item)
    return parse_literal(value) if isinstance(value, str) else value


def _read_message(item: Json, role: Role) -> Message:
    """A text, or an object whose only key is the role of the text: `{"user": "Hi"}`."""
    fields = as_object(item)
    key = next(iter(fields), "")
    if len(fields) == 1 and (stated := role_of(key)) != "other":
        calls = [as_object(decode_json(call)) for call in as_array(fields[key])]
        if calls and all("tool_function" in call for call in calls):
            return Message(stated, calls=[_read_call(call) for call in calls])
        return read_message(fields[key], stated)
    return read_message(item, role)


def _read_call(call: dict[str, Json]) -> CallBlock:
    name = text_or_none(call["tool_function"]) or ""
    return CallBlock(name=name, args=decode_json(call.get("tool_arguments")))


class Monocle(Convention):
    """Monocle and Okahu."""

    name: ClassVar[str] = "monocle"
    version: ClassVar[int] = 1
    marks: ClassVar = SpanMarks(
        attributes=("monocle_apptrace.version",), late_attributes=("entity.1.type",)
    )

    conversations: ClassVar = ("scope.agentic.session", "scope.session")
    inputs: ClassVar = (messages_in_event(*_INPUT, role="user"),)
    outputs: ClassVar = (messages_in_event(*_OUTPUT, role="assistant"),)

    def role(self, span: Span) -> SpanRole | None:
        """Decide by the type of the span."""
        kind = span.attributes.get("span.type")
        return _ROLES.get(kind) if isinstance(kind, str) else None

    def agent_name(self, span: Span) -> str | None:
        """Return the first entity that is an agent."""
        return _find_entity(span, "agent")

    def model_name(self, span: Span) -> str | None:
        """Return the first entity that is a model."""
        return _find_entity(span, "model")

    def tool_name(self, span: Span) -> str | None:
        """Return the first entity that is a tool, else the first entity."""
        return _find_entity(span, "tool") or text_or_none(span.attributes.get("entity.1.name"))

    def tool(self, span: Span) -> ToolSpan:
        """Return the call; its arguments and its result are in events."""
        args, output = _event_value(span, *_INPUT), _event_value(span, *_OUTPUT)
        if isinstance(args, list) and len(args) == 1:
            args = args[0]
        return ToolSpan(
            self.tool_name(span),
            None,
            decode_json(args),
            None if output is None else unwrap_output(output),
            _INPUT[0],
            _OUTPUT[0],
        )

    def usage(self, span: Span) -> Usage:
        """Return the counts of the `metadata` event."""
        for event in span.events:
            if event.name == "metadata" and (usage := usage_of(event.attributes)):
                return usage
        return Usage()


def _find_entity(span: Span, kind: str) -> str | None:
    for number in range(1, 10):
        name = span.attributes.get(f"entity.{number}.name")
        entity = span.attributes.get(f"entity.{number}.type")
        if isinstance(entity, str) and entity.split(".")[0] == kind and text_or_none(name):
            return text_or_none(name)
    return None
