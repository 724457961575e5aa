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
        lines = [line.strip() for line in value.splitlines()]
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
    text: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    for event in events:
        joined |= {key: event[key] for key in ("model", "usage") if event.get(key)}
        for choice in objects_in(event.get("choices")):
            if choice.get("index") not in (None, 0):
                continue
            delta = as_object(choice.get("delta"))
            text.append(as_text(delta.get("content")) or "")
            for call in objects_in(delta.get("tool_calls")):
                _add_call(calls, call)
    tool_calls = list[Json](
        {"id": call["id"], "function": {"name": call["name"], "arguments": call["arguments"]}}
        for call in calls.values()
    )
    message: Json = {
        "role": "assistant",
        "content": "".join(text) or None,
        "tool_calls": tool_calls or None,
    }
    return {**joined, "choices": [{"message": message}]}


def _add_call(calls: dict[int, dict[str, str]], delta: dict[str, Json]) -> None:
    index = delta.get("index")
    place = index if isinstance(index, int) else len(calls)
    call = calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
    function = as_object(delta.get("function"))
    call["id"] = call["id"] or as_text(delta.get("id")) or ""
    call["name"] = call["name"] or as_text(function.get("name")) or ""
    call["arguments"] += as_text(function.get("arguments")) or ""


def _join_anthropic(events: Iterable[dict[str, Json]]) -> dict[str, Json]:
    joined: dict[str, Json] = {"role": "assistant"}
    usage: dict[str, Json] = {}
    blocks: dict[Json, dict[str, Json]] = {}
    pieces: dict[Json, list[str]] = {}
    for event in events:
        message = as_object(event.get("message"))
        joined |= {key: message[key] for key in ("model", "role") if message.get(key)}
        usage |= as_object(message.get("usage")) | as_object(event.get("usage"))
        index = event.get("index")
        if not isinstance(index, int):
            continue
        if block := as_object(event.get("content_block")):
            blocks[index] = block
        delta = as_object(event.get("delta"))
        piece = as_text(delta.get("text")) or as_text(delta.get("partial_json"))
        pieces.setdefault(index, []).append(piece or "")
    content: list[Json] = []
    for index, block in blocks.items():
        whole = "".join(pieces.get(index, ()))
        if block.get("type") == "tool_use":
            content.append({**block, "input": decode_json(whole) if whole else block.get("input")})
        elif block.get("type") == "text":
            content.append({**block, "text": whole or block.get("text")})
        else:
            content.append(block)
    return {**joined, "content": content, "usage": usage or None}
