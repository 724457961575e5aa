"""Messages in span events and in the log records that belong to a span."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from carob.schema import Json, Span, SpanEvent
from carob.traces.mapping.decoding import loads
from carob.traces.messages import shapes
from carob.traces.messages.blocks import message
from carob.traces.messages.said import ROLES, Role, Said, last_answer, last_user

DETAILS = "gen_ai.client.inference.operation.details"
_ASKED: dict[str, Role] = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_BODY = "gen_ai.event.content"
"""Where Azure keeps the body of an event."""
_SPOKEN = re.compile(r"^(system|developer|user|assistant|tool): ", re.MULTILINE)
_CONTENT = ("content", "tool_calls", "parts", "message")


def asked(span: Span) -> list[Said] | None:
    """What went into the span, by its events."""
    return _gather(span, _asked)


def answered(span: Span) -> list[Said] | None:
    """What came out of the span, by its events."""
    return _gather(span, _answered)


def last_asked(span: Span, _: Role) -> list[Said] | None:
    """The latest event that tells what the user said."""
    for event in reversed(span.events):
        said = list(_asked(event))
        if last_user(said) is not None:
            return said
    return None


def last_answered(span: Span, _: Role) -> list[Said] | None:
    """The latest event that tells what was answered, or all of them if none has a text."""
    for event in reversed(span.events):
        said = list(_answered(event))
        if last_answer(said):
            return said
    return answered(span)


def tool(span: Span) -> tuple[Json, Json]:
    """The arguments and the result that a tool's span tells as if they were messages."""
    args: Json = None
    result: Json = None
    for event in span.events:
        if event.name == "gen_ai.tool.message":
            args = payload(event).get("content")
        elif event.name == "gen_ai.choice":
            told = payload(event)
            result = told.get("message", told.get("content"))
        elif isinstance(body := loads(event.body), dict):
            args = _content_of(body.get("input")) or args
            result = _content_of(body.get("output")) or result
    return args, result


def _content_of(side: Json) -> Json:
    """The content of the last message on one side of ADOT's record of a tool."""
    listed = side.get("messages") if isinstance(side, dict) else None
    last = listed[-1] if isinstance(listed, list) and listed else None
    content = last.get("content") if isinstance(last, dict) else None
    if isinstance(content, dict):
        return content.get("message", content.get("content"))
    return content


def listed(value: Json, *, answers: bool) -> list[Said] | None:
    """The same events as one JSON list, as pydantic-ai keeps them in an attribute."""
    events = loads(value)
    if not isinstance(events, list):
        return None
    found: list[Said] = []
    for event in events:
        if not isinstance(event, dict):
            continue
        name = event.get("event.name")
        if name == "gen_ai.choice":
            found.extend(_choice(event) if answers else ())
        elif isinstance(name, str) and name in _ASKED and not answers:
            found.append(message(event, _ASKED[name]))
    return found


def _gather(span: Span, read: Callable[[SpanEvent], Iterable[Said]]) -> list[Said] | None:
    found: list[Said] = []
    for event in span.events:
        found.extend(read(event))
    return found or None


def _asked(event: SpanEvent) -> Iterable[Said]:
    role = _ASKED.get(event.name)
    if role is not None:
        told = payload(event)
        if any(key in told for key in _CONTENT):
            return (message(told, role),)
        return ()
    if event.name == "gen_ai.choice":
        return ()
    if event.name == "gen_ai.content.prompt":
        return _prompted(event.attributes.get("gen_ai.prompt"))
    return _side(event, "input", "gen_ai.input.messages", "user")


def _prompted(value: Json) -> Iterable[Said]:
    """The messages; OpenLIT writes them in one text, each behind its role."""
    if not isinstance(value, str) or _SPOKEN.match(value) is None:
        return shapes.read(value, "user")
    _, *pieces = _SPOKEN.split(value)
    said = zip(pieces[::2], pieces[1::2], strict=True)
    return [Said(ROLES[role], text.removesuffix("\n")) for role, text in said]


def _answered(event: SpanEvent) -> Iterable[Said]:
    if event.name == "gen_ai.choice":
        return _choice(payload(event))
    if event.name in _ASKED:
        return ()
    if event.name == "gen_ai.content.completion":
        return shapes.read(event.attributes.get("gen_ai.completion"), "assistant")
    return _side(event, "output", "gen_ai.output.messages", "assistant")


def _side(event: SpanEvent, side: str, key: str, role: Role) -> Iterable[Said]:
    """A details event by its attributes or its body; ADOT names the event after the scope."""
    if (value := event.attributes.get(_BODY if event.name == key else key)) is not None:
        return shapes.read(value, role)
    body = loads(event.body)
    if not isinstance(body, dict):
        return ()
    inner = body.get(key, body.get(side))
    if isinstance(inner, dict) and "messages" in inner:
        inner = inner["messages"]
    elif key not in body:
        return ()
    said = shapes.read(_choices(inner) if side == "output" else inner, role)
    whole = [_opened(one, role) for one in said]
    if any(whole):  # what follows are copies of its parts, all in the same role
        return [one for many in whole for one in many or ()]
    return said if role == "assistant" else [one for one in said if not _is_object(one)]


def _choices(listed: Json) -> Json:
    """What was answered: ADOT takes all that an assistant ever said for output."""
    if not isinstance(listed, list):
        return listed
    found = [one for one in listed if isinstance(one, dict) and _is_choice(one.get("content"))]
    return [*found] or listed


def _is_choice(content: Json) -> bool:
    return isinstance(content, dict) and "message" in content


def _opened(said: Said, role: Role) -> list[Said]:
    """ADOT puts a whole recorded value into the text of one message."""
    if said.role == role and said.text and said.text[0] in "{[":
        return shapes.read(said.text, role)
    return []


def _is_object(said: Said) -> bool:
    """Whether a text is a recorded value that holds no message."""
    return bool(said.text) and isinstance(loads(said.text), dict)


def _choice(told: dict[str, Json]) -> Iterable[Said]:
    inner = loads(told.get("message"))
    finish = told.get("finish_reason")
    if inner is None:
        if not any(key in told for key in _CONTENT):
            return ()
        inner = told
    said = message(inner, "assistant")
    if said.role == "assistant" and isinstance(finish, str):
        said.finish = finish
    return (said,)


def payload(event: SpanEvent) -> dict[str, Json]:
    """The body, or the attributes that stand in for it; Azure keeps it as JSON in one of them."""
    body = loads(event.body)
    if isinstance(body, dict):
        return body
    if isinstance(body, str) and body:
        return {"content": body}
    inner = loads(event.attributes.get(_BODY))
    return inner if isinstance(inner, dict) else event.attributes
