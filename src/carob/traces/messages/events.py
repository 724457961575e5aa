"""Messages in span events, and in the log records that belong to a span."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from carob.schema import Json, Span, SpanEvent, Usage
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import ROLES, Message, Role, asked_text, last_answer
from carob.traces.messages.read import read_messages
from carob.traces.shape import as_count, decode_json

_INPUT_EVENTS: dict[str, Role] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_BODY = "gen_ai.event.content"
"""Where Azure keeps the body of an event."""
_USAGE = "gen_ai.usage."
_ROLE_PREFIX = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)
_CONTENT_KEYS = ("content", "tool_calls", "parts", "message")


def read_input(span: Span) -> list[Message] | None:
    """Read the messages that a span received, from its events."""
    return _collect(span, _read_input_event)


def read_output(span: Span) -> list[Message] | None:
    """Read the messages that a span returned, from its events."""
    return _collect(span, _read_output_event)


def read_last_input(span: Span, _: Role) -> list[Message] | None:
    """Read the last event that holds a user's text."""
    for event in reversed(span.events):
        messages = list(_read_input_event(event))
        if asked_text(messages) is not None:
            return messages
        if any(message.role == "assistant" for message in messages):
            return read_input(span)
    return None


def read_last_output(span: Span, _: Role) -> list[Message] | None:
    """Read the last event that holds an answer, or all of them if none has a text."""
    for event in reversed(span.events):
        messages = list(_read_output_event(event))
        if last_answer(messages):
            return messages
    return read_output(span)


def read_tool_events(span: Span) -> tuple[Json, Json]:
    """Read the arguments and the result that a tool's span records as if they were messages."""
    args: Json = None
    result: Json = None
    for event in span.events:
        if event.name == "gen_ai.tool.message":
            args = event_fields(event).get("content")
        elif event.name == "gen_ai.choice":
            fields = event_fields(event)
            result = fields.get("message", fields.get("content"))
        elif isinstance(body := decode_json(event.body), dict):
            args = _last_content(body.get("input")) or args
            result = _last_content(body.get("output")) or result
    return args, result


def _last_content(side: Json) -> Json:
    """The content of the last message on one side of ADOT's record of a tool."""
    messages = side.get("messages") if isinstance(side, dict) else None
    last = messages[-1] if isinstance(messages, list) and messages else None
    content = last.get("content") if isinstance(last, dict) else None
    if isinstance(content, dict):
        return content.get("message", content.get("content"))
    return content


def count_requests(span: Span) -> list[Usage]:
    """Read the tokens of each request that a span records as an event of its own.

    ADK writes one event per request, also where another recorder's span is around several requests
    and its attributes are those of the last one.
    """
    return [
        Usage(
            as_count(counts.get(f"{_USAGE}input_tokens")),
            as_count(counts.get(f"{_USAGE}output_tokens")),
            as_count(counts.get(f"{_USAGE}cache_read.input_tokens")),
            as_count(counts.get(f"{_USAGE}cache_creation.input_tokens")),
            as_count(counts.get(f"{_USAGE}reasoning.output_tokens")),
        )
        for event in span.events
        if f"{_USAGE}input_tokens" in (counts := event.attributes)
    ]


def read_event_list(value: Json, *, outputs: bool) -> list[Message] | None:
    """Read events that are kept in an attribute as one JSON list, as pydantic-ai does."""
    events = decode_json(value)
    if not isinstance(events, list):
        return None
    messages: list[Message] = []
    for event in events:
        if not isinstance(event, dict):
            continue
        name = event.get("event.name")
        if name == "gen_ai.choice":
            messages.extend(_read_choice(event) if outputs else ())
        elif isinstance(name, str) and name in _INPUT_EVENTS and not outputs:
            messages.append(read_message(event, _INPUT_EVENTS[name]))
    return messages


def _collect(span: Span, read: Callable[[SpanEvent], Iterable[Message]]) -> list[Message] | None:
    messages: list[Message] = []
    for event in span.events:
        messages.extend(read(event))
    return messages or None


def _read_input_event(event: SpanEvent) -> Iterable[Message]:
    role = _INPUT_EVENTS.get(event.name)
    if role is not None:
        fields = event_fields(event)
        if any(key in fields for key in _CONTENT_KEYS):
            return (read_message(fields, role),)
        return ()
    if event.name == "gen_ai.choice":
        return ()
    if event.name == "gen_ai.content.prompt":
        return _read_prompt(event.attributes.get("gen_ai.prompt"))
    return _read_details(event, "input", "gen_ai.input.messages", "user")


def _read_prompt(value: Json) -> Iterable[Message]:
    """The messages of a prompt; OpenLIT writes them into one text, each after its role."""
    if not isinstance(value, str) or _ROLE_PREFIX.match(value) is None:
        return read_messages(value, "user")
    _, *pieces = _ROLE_PREFIX.split(value)
    pairs = zip(pieces[::2], pieces[1::2], strict=True)
    return [Message(ROLES[role], text.removesuffix("\n")) for role, text in pairs]


def _read_output_event(event: SpanEvent) -> Iterable[Message]:
    if event.name == "gen_ai.choice":
        return _read_choice(event_fields(event))
    if event.name in _INPUT_EVENTS:
        return ()
    if event.name == "gen_ai.content.completion":
        return read_messages(event.attributes.get("gen_ai.completion"), "assistant")
    return _read_details(event, "output", "gen_ai.output.messages", "assistant")


def _read_details(event: SpanEvent, side: str, key: str, role: Role) -> Iterable[Message]:
    """An event with all messages of one side, in its attributes or in its body.

    It is recognized by its fields: ADOT names the event after the instrumentation scope.
    """
    if (value := event.attributes.get(_BODY if event.name == key else key)) is not None:
        return read_messages(value, role)
    body = decode_json(event.body)
    if not isinstance(body, dict):
        return ()
    inner = body.get(key, body.get(side))
    if isinstance(inner, dict) and "messages" in inner:
        inner = inner["messages"]
    elif key not in body:
        return ()
    messages = read_messages(_only_choices(inner) if side == "output" else inner, role)
    nested = [_read_nested(message, role) for message in messages]
    # Where ADOT records a whole value, it adds copies of its parts, all in the same role: only the
    # whole value has the right roles.
    if any(nested):
        return [message for several in nested for message in several]
    if role == "assistant":
        return messages
    return [message for message in messages if not _is_object_text(message)]


def _only_choices(messages: Json) -> Json:
    """The new messages: ADOT records everything that the assistant ever wrote as output."""
    if not isinstance(messages, list):
        return messages
    choices = [item for item in messages if isinstance(item, dict) and _is_choice(item)]
    return [*choices] or messages


def _is_choice(item: dict[str, Json]) -> bool:
    content = item.get("content")
    return isinstance(content, dict) and "message" in content


def _read_nested(message: Message, role: Role) -> list[Message]:
    """The messages in the text of a message, where ADOT puts a whole recorded value."""
    if message.role == role and message.text and message.text[0] in "{[":
        return read_messages(message.text, role)
    return []


def _is_object_text(message: Message) -> bool:
    """Whether a text is a recorded value without messages."""
    return bool(message.text) and isinstance(decode_json(message.text), dict)


def _read_choice(fields: dict[str, Json]) -> Iterable[Message]:
    inner = decode_json(fields.get("message"))
    finish = fields.get("finish_reason")
    if inner is None:
        if not any(key in fields for key in _CONTENT_KEYS):
            return ()
        inner = fields
    message = read_message(inner, "assistant")
    if message.role == "assistant" and isinstance(finish, str):
        message.finish = finish
    return (message,)


def event_fields(event: SpanEvent) -> dict[str, Json]:
    """Return the body of an event, or its attributes; Azure keeps the body in one of them."""
    body = decode_json(event.body)
    if isinstance(body, dict):
        return body
    if isinstance(body, str) and body:
        return {"content": body}
    inner = decode_json(event.attributes.get(_BODY))
    return inner if isinstance(inner, dict) else event.attributes
