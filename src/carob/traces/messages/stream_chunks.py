"""Model responses that were recorded as streams: chunks in a list, or the text of the connection.

Each API streams its own objects. Joined, they are the response that the API gives without a stream.
"""

from __future__ import annotations

from collections.abc import Iterable

from carob.schema import Json
from carob.traces.shape import as_object, as_text, decode_json, objects_in

_PREFIX = "data:"


def join_chunks(value: Json) -> Json:
    """Return the response that a recorded stream contains; anything else as it is. A stream that
    cannot be joined is `None`: its text is not what the model answered."""
    events = _events(value)
    if events is None:
        return value
    for event in events:
        if event.get("type") == "response.completed":
            return event.get("response")
    if any(event.get("type") == "message_start" for event in events):
        return _join_anthropic(events)
    if any("choices" in event for event in events):
        return _join_openai(events)
    return None


def _events(value: Json) -> list[dict[str, Json]] | None:
    """The events of a stream; `None` if it is none."""
    if isinstance(value, str):
        lines = [line.strip() for line in value.strip().splitlines()]
        data = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
        if not data or not lines[0].startswith((_PREFIX, "event:", ":")):
            return None
        return objects_in([decode_json(text) for text in data]) or None
    events = objects_in(value)
    is_stream = bool(events) and all(_is_chunk(event) for event in events)
    return [*events] if is_stream else None


def _is_chunk(event: dict[str, Json]) -> bool:
    if event.get("object") == "chat.completion.chunk":
        return True
    kind = as_text(event.get("type")) or ""
    return kind == "ping" or kind.startswith(("response.", "message_", "content_block_"))


def _join_openai(events: Iterable[dict[str, Json]]) -> dict[str, Json]:
    """The first choice: of several, it is the one that clients use."""
    joined: dict[str, Json] = {}
    texts: list[str] = []
    calls: dict[int, _OpenCall] = {}
    for event in events:
        joined |= {key: event[key] for key in ("model", "usage") if event.get(key)}
        for choice in objects_in(event.get("choices")):
            if choice.get("index") not in (None, 0):
                continue
            delta = as_object(choice.get("delta"))
            texts.append(as_text(delta.get("content")) or "")
            for call in objects_in(delta.get("tool_calls")):
                index = call.get("index")
                place = index if isinstance(index, int) else len(calls)
                calls.setdefault(place, _OpenCall()).add(call)
    message: Json = {
        "role": "assistant",
        "content": "".join(texts) or None,
        "tool_calls": [call.finish() for call in calls.values()] or None,
    }
    return {**joined, "choices": [{"message": message}]}


class _OpenCall:
    """A tool call whose arguments come in pieces."""

    def __init__(self) -> None:
        self._id: str | None = None
        self._name: str | None = None
        self._arguments: list[str] = []

    def add(self, delta: dict[str, Json]) -> None:
        """Add what a chunk has of the call."""
        function = as_object(delta.get("function"))
        self._id = self._id or as_text(delta.get("id"))
        self._name = self._name or as_text(function.get("name"))
        self._arguments.append(as_text(function.get("arguments")) or "")

    def finish(self) -> Json:
        """Return the call as it stands in a response."""
        function: Json = {"name": self._name, "arguments": "".join(self._arguments)}
        return {"id": self._id, "function": function}


def _join_anthropic(events: Iterable[dict[str, Json]]) -> dict[str, Json]:
    joined: dict[str, Json] = {"role": "assistant"}
    usage: dict[str, Json] = {}
    blocks: dict[int, dict[str, Json]] = {}
    pieces: dict[int, list[str]] = {}
    for event in events:
        message = as_object(event.get("message"))
        joined |= {key: message[key] for key in ("model", "role") if message.get(key)}
        # The output tokens are counted at the end; those at the start are not the whole.
        started = as_object(message.get("usage"))
        usage |= {key: count for key, count in started.items() if key != "output_tokens"}
        usage |= as_object(event.get("usage"))
        index = event.get("index")
        if not isinstance(index, int):
            continue
        if block := as_object(event.get("content_block")):
            blocks[index] = block
        delta = as_object(event.get("delta"))
        piece = as_text(delta.get("text")) or as_text(delta.get("partial_json"))
        pieces.setdefault(index, []).append(piece or "")
    content = [_finish_block(block, "".join(pieces[index])) for index, block in blocks.items()]
    return {**joined, "content": content, "usage": usage or None}


def _finish_block(block: dict[str, Json], streamed: str) -> Json:
    if not streamed:
        return block
    if block.get("type") == "tool_use":
        return {**block, "input": decode_json(streamed)}
    return {**block, "text": streamed} if block.get("type") == "text" else block
