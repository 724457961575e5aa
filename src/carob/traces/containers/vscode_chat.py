"""Copilot Chat in VS Code: an exported chat, or the journal of a session.

The journal begins with the whole session (`kind` 0); the lines after it set a value (1) or append
to a list (2) at a path.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ToolCall, ToolResult, Trace
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_array, as_object, as_text, decode_structure, objects_in

_OWN = frozenset(("responderUsername", "requesterUsername", "initialLocation", "creationDate"))
NO_COUNTS = "Copilot Chat does not count the tokens of each model call"


class VsCodeChat:
    """A chat with `requests`, or lines with a `kind` and a value `v`."""

    name = "vscode-chat"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return isinstance(fields.get("requests"), list) and not _OWN.isdisjoint(fields)

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("kind")
        if type(kind) is not int or kind not in (0, 1, 2) or "v" not in fields:
            return False
        return isinstance(fields.get("k"), list) or self.claims(fields["v"])

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        for chat in [as_object(item)] if isinstance(item, dict) else _replay(objects_in(item)):
            requests = objects_in(chat.get("requests"))
            session = as_text(chat.get("sessionId"))
            builder = TurnBuilder()
            for request in requests:
                _add_request(builder, request)
            if turns := builder.turns():
                yield Trace(
                    id=session or content_digest_id([*requests]),
                    turns=turns,
                    source=source,
                    convention="vscode-chat",
                    mapper="vscode-chat@1",
                    conversation=session,
                    gaps={"usage": NO_COUNTS},
                )


def _replay(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The sessions that the lines of a journal describe, as they were in the end."""
    sessions: list[dict[str, Json]] = []
    for line in lines:
        if line["kind"] == 0:
            sessions.append(as_object(line["v"]))
        elif sessions:
            _change(sessions[-1], as_array(line.get("k")), line["v"], appends=line["kind"] == 2)
    return sessions


def _change(session: Json, path: list[Json], value: Json, *, appends: bool) -> None:
    for key in path[:-1]:
        session = _get(session, key)
    last = path[-1] if path else None
    old = _get(session, last)
    if appends and isinstance(old, list):
        old.extend(as_array(value))
    elif isinstance(session, dict) and isinstance(last, str):
        session[last] = value
    elif isinstance(session, list) and (index := _index(session, last)) is not None:
        session[index] = value


def _get(value: Json, key: Json) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    items = as_array(value)
    index = _index(items, key)
    return None if index is None else items[index]


def _index(items: list[Json], key: Json) -> int | None:
    return key if isinstance(key, int) and 0 <= key < len(items) else None


def _add_request(builder: TurnBuilder, request: dict[str, Json]) -> None:
    message, result = as_object(request.get("message")), as_object(request.get("result"))
    builder.add_user_text(as_text(message.get("text")) or "")
    builder.add_time(instant(request.get("timestamp")))
    metadata = as_object(result.get("metadata"))
    results = as_object(metadata.get("toolCallResults"))
    rounds = objects_in(metadata.get("toolCallRounds"))
    for step in rounds:
        if text := as_text(step.get("response")):
            builder.add_answer("", text)
        for call in objects_in(step.get("toolCalls")):
            _add_call(builder, call, results)
    if not rounds:
        _add_shown(builder, objects_in(request.get("response")))
    if error := as_text(as_object(result.get("errorDetails")).get("message")):
        builder.add_error(error)


def _add_call(builder: TurnBuilder, call: dict[str, Json], results: dict[str, Json]) -> None:
    name, call_id = as_text(call.get("name")) or "", as_text(call.get("id")) or ""
    args = decode_structure(call.get("arguments"))
    builder.add_call(ToolCall(name=name, args=args, id=call_id))
    if call_id in results:
        parts = objects_in(as_object(results[call_id]).get("content"))
        texts = [text for part in parts if (text := as_text(part.get("value"))) is not None]
        result = decode_structure("\n".join(texts)) if texts else None
        builder.add_result(ToolResult(name=name, id=call_id, result=result))


def _add_shown(builder: TurnBuilder, parts: list[dict[str, Json]]) -> None:
    """Add what the chat shows; of its tools it has no arguments."""
    texts = [as_text(part.get("value")) for part in parts if part.get("kind") in (None, "markdown")]
    if text := "".join(filter(None, texts)):
        builder.add_answer("", text)
    if any(part.get("kind") == "toolInvocationSerialized" for part in parts):
        builder.mark_calls_unknown()
