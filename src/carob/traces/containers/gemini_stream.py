"""Gemini CLI: the events that `--output-format stream-json` prints, one per line."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.containers.chat import Chat
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_array, as_object, as_text, objects_in

_KEYS: dict[str, frozenset[str]] = {
    "init": frozenset(("session_id", "model", "timestamp")),
    "message": frozenset(("role", "content", "timestamp")),
    "tool_use": frozenset(("tool_name", "tool_id", "parameters")),
    "tool_result": frozenset(("tool_id", "status")),
    "error": frozenset(("severity", "message", "timestamp")),
    "result": frozenset(("status", "stats")),
}
NO_COUNTS = "the stream of Gemini CLI counts the tokens of the run, not of each model call"


class GeminiStream:
    """Lines of the types that Gemini CLI prints, each with the keys of its type."""

    name = "gemini-cli-stream"

    def claims(self, item: Json) -> bool:
        lines = as_array(item)
        return bool(lines) and all(map(self.claims_line, lines)) and _is_stream(objects_in(lines))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        keys = _KEYS.get(as_text(fields.get("type")) or "")
        return keys is not None and fields.keys() >= keys

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        lines = objects_in(item)
        if not _is_stream(lines):  # messages alone are anybody's, and come in one piece
            yield from Chat().read(item, source=source)
            return
        session = next(
            (as_text(line["session_id"]) for line in lines if line["type"] == "init"), None
        )
        builder = TurnBuilder()
        _add_lines(builder, lines)
        yield Trace(
            id=session or content_digest_id([*lines]),
            turns=builder.turns(),
            source=source,
            convention="gemini-cli-stream",
            mapper="gemini-cli-stream@1",
            conversation=session,
            gaps={"usage": NO_COUNTS},
        )


def _is_stream(lines: list[dict[str, Json]]) -> bool:
    return any(line["type"] in {"init", "tool_use", "result"} for line in lines)


def _add_lines(builder: TurnBuilder, lines: list[dict[str, Json]]) -> None:
    answer = ""
    for line in lines:
        is_answer = line["type"] == "message" and line.get("role") == "assistant"
        if is_answer:  # an answer comes in pieces
            answer += as_text(line.get("content")) or ""
        elif answer:
            builder.add_answer("", answer)
            answer = ""
        if not is_answer:
            _add_line(builder, line)
        builder.add_time(instant(line.get("timestamp")))
    if answer:
        builder.add_answer("", answer)


def _add_line(builder: TurnBuilder, line: dict[str, Json]) -> None:
    call_id = as_text(line.get("tool_id"))
    if line["type"] == "message" and line.get("role") == "user":
        builder.add_user_text(as_text(line.get("content")) or "")
    elif line["type"] == "tool_use":
        name = as_text(line.get("tool_name")) or ""
        builder.add_call(ToolCall(name=name, args=line.get("parameters"), id=call_id))
    elif line["type"] == "tool_result":
        error = as_text(as_object(line.get("error")).get("message"))
        if line.get("status") == "error":
            error = error or as_text(line.get("output")) or TOOL_FAILED
        # A tool that shows nothing has an empty output here, whatever the model was told.
        result = line.get("output") or None
        builder.add_result(ToolResult(id=call_id, result=result, error=error))
    elif line["type"] == "error" and line.get("severity") == "error":
        builder.add_error(as_text(line.get("message")) or "the model failed")
    elif line["type"] == "result" and line.get("status") == "error":
        error = as_text(as_object(line.get("error")).get("message"))
        builder.add_error(error or "the run failed")
