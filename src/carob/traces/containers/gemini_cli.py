"""Gemini CLI: the file of a session, with each model message's tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Usage
from carob.traces.messages.blocks import read_message
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import instant
from carob.traces.shape import as_count, as_object, as_text, objects_in

_KEYS = frozenset(("sessionId", "projectHash", "messages"))


class GeminiCli:
    """A session with the hash of its project."""

    name = "gemini-cli"

    def claims(self, item: Json) -> bool:
        return as_object(item).keys() >= _KEYS

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        session = as_text(fields.get("sessionId")) or ""
        builder = TurnBuilder()
        for message in objects_in(fields.get("messages")):
            _add_message(builder, message)
        turns = builder.turns()
        if turns:
            yield Trace(
                id=session,
                turns=turns,
                source=source,
                convention="gemini-cli",
                mapper="gemini-cli-session@1",
                conversation=session,
            )


def _add_message(builder: TurnBuilder, message: dict[str, Json]) -> None:
    kind = message.get("type")
    text = read_message(message.get("content"), "assistant").text
    if kind == "user":
        builder.add_user_text(text or "")
    elif kind == "error":
        builder.add_error(text or "the model failed")
    elif kind == "gemini":
        if text:
            builder.add_answer("", text)
        for call in objects_in(message.get("toolCalls")):
            _add_call(builder, call)
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
