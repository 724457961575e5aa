"""Gemini CLI: the file of a session, with each model message's tool calls and their results.

Older versions write one object. Newer ones write a line for the session, one per message, again
when a message gets its results, and lines that set fields of the session.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.containers.chat import Chat
from carob.traces.messages.blocks import read_message
from carob.traces.messages.message import Message
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_array, as_count, as_object, as_text, objects_in

_SESSION = frozenset(("sessionId", "projectHash"))
_MESSAGE = frozenset(("id", "timestamp", "type", "content"))
_TYPES = frozenset(("user", "gemini", "info", "error", "warning"))
_SETTERS = frozenset(("$set", "$rewindTo"))
_CONTEXT = "<session_context>"
"""How the text begins that Gemini CLI writes in the user's name."""


class GeminiCli:
    """A session with the hash of its project, as one object or in lines."""

    name = "gemini-cli"

    def claims(self, item: Json) -> bool:
        if isinstance(item, dict):
            return item.keys() >= _SESSION and isinstance(item.get("messages"), list)
        lines = as_array(item)
        return (
            bool(lines)
            and all(map(self.claims_line, lines))
            and any(as_object(line).keys() >= _SESSION for line in lines)
        )

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        if fields.keys() >= _SESSION or (fields and fields.keys() <= _SETTERS):
            return True
        kind = fields.get("type")
        return isinstance(kind, str) and kind in _TYPES and fields.keys() >= _MESSAGE

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item) or [as_object(item)]
        start = next((line for line in lines if line.keys() >= _SESSION), None)
        if start is None:  # the messages of another program have the same keys
            yield from Chat().read([*lines], source=source)
            return
        session = as_text(start.get("sessionId")) or content_digest_id([*lines])
        messages = objects_in(start.get("messages")) or _latest_messages(lines)
        if turns := _read_turns(messages):
            yield Trace(
                id=session,
                turns=turns,
                source=source,
                convention="gemini-cli-session",
                mapper="gemini-cli-session@2",
                conversation=session,
            )


def _latest_messages(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The messages in the order in which they were first written, each as it was written last.

    A list of messages that is set when a session is resumed lacks the results and counts of those
    before it; one that is set first has the messages of a session that goes on here.
    """
    messages: dict[str, dict[str, Json]] = {}
    has_lines = False
    for line in lines:
        if line.keys() >= _MESSAGE:
            has_lines = True
            key = as_text(line["id"]) or ""
            messages[key] = messages.get(key, {}) | line
        elif "$rewindTo" in line:
            keys = list(messages)
            target = as_text(line["$rewindTo"])
            for key in keys[keys.index(target) :] if target in messages else ():
                del messages[key]
        elif not has_lines:
            for message in objects_in(as_object(line.get("$set")).get("messages")):
                messages.setdefault(as_text(message.get("id")) or "", message)
    return list(messages.values())


def _read_turns(messages: list[dict[str, Json]]) -> tuple[Turn, ...]:
    builder = TurnBuilder()
    answered: set[str | None] = set()
    for message in messages:
        _add_message(builder, message, answered)
    return builder.turns()


def _add_message(builder: TurnBuilder, message: dict[str, Json], answered: set[str | None]) -> None:
    kind = message.get("type")
    content = read_message(message.get("content"), "assistant")
    text = content.text
    if kind == "user":
        # The results of tools are with their calls as well, except in messages that were set.
        results = [result for result in content.results if result.id not in answered]
        builder.add_message(Message("tool", results=results))
        if content.results or (text or "").startswith(_CONTEXT):
            return
        builder.add_user_text(text or "")
    elif kind == "error":
        builder.add_error(text or "the model failed")
    elif kind == "gemini":
        if text:
            builder.add_answer("", text)
        calls = objects_in(message.get("toolCalls"))
        for call in calls:
            _add_call(builder, call)
            answered.add(as_text(call.get("id")))
        if not calls and content.calls:
            builder.add_message(Message("assistant", calls=content.calls))
        if usage := _usage(as_object(message.get("tokens"))):
            model = as_text(message.get("model"))
            builder.add_model_call(ModelCall(model=model, usage=usage))
    else:  # what the program shows
        return
    builder.add_time(instant(message.get("timestamp")))


def _add_call(builder: TurnBuilder, call: dict[str, Json]) -> None:
    name, key = as_text(call.get("name")) or "", as_text(call.get("id"))
    builder.add_call(ToolCall(name=name, args=call.get("args"), id=key))
    for part in objects_in(call.get("result")):
        response = as_object(as_object(part.get("functionResponse")).get("response"))
        error = as_text(response.get("error"))
        if call.get("status") == "error":
            error = error or TOOL_FAILED
        result = response.get("output", response)
        builder.add_result(ToolResult(name=name, id=key, result=result, error=error))


def _usage(tokens: dict[str, Json]) -> Usage | None:
    """The counts; the output does not include the thoughts, as in Gemini's API."""
    output, thoughts = as_count(tokens.get("output")), as_count(tokens.get("thoughts"))
    usage = Usage(
        input_tokens=as_count(tokens.get("input")),
        output_tokens=None if output is None else output + (thoughts or 0),
        cached_tokens=as_count(tokens.get("cached")),
        reasoning_tokens=thoughts,
        total_tokens=as_count(tokens.get("total")),
    )
    return None if usage == Usage() else usage
