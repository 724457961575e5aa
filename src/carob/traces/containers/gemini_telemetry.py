"""Gemini CLI: the file that its telemetry writes (`telemetry.outfile`).

It has spans, log records and metrics as OpenTelemetry's JavaScript SDK holds them. The spans have
no content and no common trace, and what the model answered is in log records without a span, so
that only the log records are read. What tools returned is not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, Trace, Usage
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import instant
from carob.traces.shape import as_count, as_object, as_text, decode_structure, objects_in

_SCOPE = "gemini-cli"
_MAIN = "main"
"""The role of the agent that talks to the user; others route, summarize or are sub-agents."""
NO_RESULTS = "the telemetry of Gemini CLI does not record what tools return"


class GeminiTelemetry:
    """Objects of the scope `gemini-cli`, and the metrics beside them."""

    name = "gemini-cli-telemetry"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if fields.keys() == {"resource", "scopeMetrics"}:
            return "_rawAttributes" in as_object(fields["resource"])
        return _is_own(fields) and "_spanContext" in fields

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return _is_own(fields) and "hrTime" in fields

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        sessions: dict[str, list[dict[str, Json]]] = {}
        for record in objects_in(item):
            session = as_text(as_object(record.get("attributes")).get("session.id")) or ""
            sessions.setdefault(session, []).append(record)
        for session, records in sessions.items():
            builder = TurnBuilder()
            for record in sorted(records, key=lambda record: instant(record.get("hrTime")) or 0):
                _add_record(builder, record)
            if turns := builder.turns():
                yield Trace(
                    id=session,
                    turns=turns,
                    source=source,
                    convention="gemini-cli-telemetry",
                    mapper="gemini-cli-telemetry@1",
                    conversation=session,
                    gaps={"tool_results": NO_RESULTS},
                )


def _is_own(fields: dict[str, Json]) -> bool:
    return as_object(fields.get("instrumentationScope")).get("name") == _SCOPE


def _add_record(builder: TurnBuilder, record: dict[str, Json]) -> None:
    fields = as_object(record.get("attributes"))
    kind = as_text(fields.get("event.name")) or ""
    if kind == "gemini_cli.user_prompt":
        prompt = as_text(fields.get("prompt"))
        builder.start_turn(None)
        if prompt is not None:
            builder.add_user_text(prompt)
    elif kind == "gemini_cli.api_response":
        if fields.get("role", _MAIN) == _MAIN:
            _add_response(builder, decode_structure(fields.get("response_text")))
        _add_model_call(builder, fields)
    elif kind == "gemini_cli.api_error":
        builder.add_error(as_text(fields.get("error")) or "the model failed")
    else:
        return
    builder.add_time(instant(record.get("hrTime")))


def _add_response(builder: TurnBuilder, chunks: Json) -> None:
    """Add what the model answered, in one object or in the pieces of a stream."""
    text = ""
    for chunk in objects_in(chunks) or [as_object(chunks)]:
        candidates = objects_in(chunk.get("candidates"))
        content = as_object(candidates[0].get("content")) if candidates else {}
        for part in objects_in(content.get("parts")):
            if part.get("thought") is not True:
                text += as_text(part.get("text")) or ""
            if call := as_object(part.get("functionCall")):
                name, args = as_text(call.get("name")) or "", call.get("args")
                builder.add_call(ToolCall(name=name, args=args, id=as_text(call.get("id"))))
    if text:
        builder.add_answer("", text)


def _add_model_call(builder: TurnBuilder, fields: dict[str, Json]) -> None:
    """Add the counts; the output does not include the thoughts, as in Gemini's API."""
    output = as_count(fields.get("output_token_count"))
    thoughts = as_count(fields.get("thoughts_token_count"))
    usage = Usage(
        input_tokens=as_count(fields.get("input_token_count")),
        output_tokens=None if output is None else output + (thoughts or 0),
        cached_tokens=as_count(fields.get("cached_content_token_count")),
        reasoning_tokens=thoughts,
        total_tokens=as_count(fields.get("total_token_count")),
    )
    builder.add_model_call(ModelCall(model=as_text(fields.get("model")), usage=usage))
