"""Continue: the file of a session, with each message's tool calls and what became of them."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace
from carob.traces.messages.blocks import read_message
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in

_FINISHED = frozenset(("done", "errored", "canceled"))


class ContinueSession:
    """A session with a `sessionId` and a `history` of items that hold a message."""

    name = "continue"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        history = objects_in(fields.get("history"))
        return "sessionId" in fields and bool(history) and all(map(_is_item, history))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        session = as_text(fields.get("sessionId")) or ""
        history = objects_in(fields.get("history"))
        builder = TurnBuilder()
        messages = [as_object(entry["message"]) for entry in history]
        answered = {as_text(message.get("toolCallId")) for message in messages}
        for entry, message in zip(history, messages, strict=True):
            _add_message(builder, entry, message, answered)
        yield Trace(
            id=session,
            turns=builder.turns(),
            source=source,
            convention="continue-session",
            mapper="continue-session@1",
            conversation=session,
        )


def _is_item(entry: dict[str, Json]) -> bool:
    return isinstance(as_object(entry.get("message")).get("role"), str)


def _add_message(
    builder: TurnBuilder,
    entry: dict[str, Json],
    message: dict[str, Json],
    answered: set[str | None],
) -> None:
    role, text = message["role"], read_message(message.get("content"), "user").text
    if role == "user":
        builder.add_user_text(text or "")
    elif role == "tool":
        call_id = as_text(message.get("toolCallId"))
        builder.add_result(ToolResult(id=call_id, result=text))
    elif role == "assistant":
        if text:
            builder.add_answer("", text)
        for call in objects_in(message.get("toolCalls")):
            _add_call(builder, call)
        _add_model_call(builder, entry, message)
        states = objects_in(entry.get("toolCallStates"))
        for state in states or objects_in([entry.get("toolCallState")]):
            # The extension for editors writes a message for the result as well.
            if as_text(state.get("toolCallId")) not in answered:
                _add_result(builder, state)


def _add_call(builder: TurnBuilder, call: dict[str, Json]) -> None:
    function = as_object(call.get("function"))
    name, args = as_text(function.get("name")) or "", decode_structure(function.get("arguments"))
    builder.add_call(ToolCall(name=name, args=args or {}, id=as_text(call.get("id"))))


def _add_result(builder: TurnBuilder, state: dict[str, Json]) -> None:
    status = as_text(state.get("status"))
    if status not in _FINISHED:
        return
    texts = [as_text(part.get("content")) or "" for part in objects_in(state.get("output"))]
    text = "\n".join(texts) if as_array(state.get("output")) else None
    error = None if status == "done" else text or TOOL_FAILED
    call_id = as_text(state.get("toolCallId"))
    builder.add_result(ToolResult(id=call_id, result=text, error=error))


def _add_model_call(builder: TurnBuilder, entry: dict[str, Json], message: dict[str, Json]) -> None:
    counts = as_object(message.get("usage"))
    logs = objects_in(entry.get("promptLogs"))
    model = as_text(counts.get("model")) or next(
        (as_text(log.get("modelTitle")) for log in logs), None
    )
    if usage := usage_of(counts):
        builder.add_model_call(ModelCall(model=model, usage=usage))
