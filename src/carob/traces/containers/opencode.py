"""opencode: an exported session, whose messages have parts for texts and tools, the parts that
`opencode run --format json` prints, which lack the user's, and the events of its store."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Usage
from carob.traces.messages.turns import TOOL_FAILED, TurnBuilder
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_count,
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
)

_LINES = frozenset(("step_start", "text", "tool_use", "step_finish", "reasoning", "error"))
_EVENTS = ("message.", "session.")


class OpenCode:
    """A session with `info` and `messages`, each of which has `info` and `parts`."""

    name = "opencode"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        messages = objects_in(fields.get("messages"))
        return (
            isinstance(fields.get("info"), dict)
            and bool(messages)
            and all(map(_is_message, messages))
        )

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        kind = fields.get("type")
        if not isinstance(kind, str):
            return False
        if kind in _LINES:
            return "sessionID" in fields
        return kind.startswith(_EVENTS) and "sessionID" in _change_of(fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        session = as_text(as_object(fields.get("info")).get("id"))
        messages = objects_in(fields.get("messages"))
        builder = TurnBuilder()
        if lines := objects_in(item):
            session = as_text((_change_of(lines[0]) or lines[0]).get("sessionID"))
            events = [change for line in lines if (change := _change_of(line))]
            messages = _apply_changes(events) if events else _group_by_message(lines)
        for message in messages:
            _add_message(builder, message)
        if turns := builder.turns():
            yield Trace(
                id=session or content_digest_id([*messages]),
                turns=turns,
                source=source,
                convention="opencode",
                mapper="opencode@1",
                conversation=session,
            )


def _change_of(line: dict[str, Json]) -> dict[str, Json]:
    """What an event changed: its `data` in the store, its `properties` on the event bus."""
    return as_object(first_value(line, "data", "properties"))


def _apply_changes(changes: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The messages and parts as their last updates left them."""
    infos: dict[str, Json] = {}
    parts: dict[str, dict[str, Json]] = {}
    for change in changes:
        info, part = as_object(change.get("info")), as_object(change.get("part"))
        key = as_text(part.get("messageID"))
        if "role" in info:
            infos[as_text(info.get("id")) or ""] = info
        elif key is not None:
            parts.setdefault(key, {})[as_text(part.get("id")) or ""] = part
    return [{"info": info, "parts": [*parts.get(key, {}).values()]} for key, info in infos.items()]


def _group_by_message(lines: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """The messages of printed parts; a finished step has the token counts of its message."""
    messages: dict[str | None, list[Json]] = {}
    counts: dict[str | None, Json] = {}
    for line in lines:
        part = as_object(line.get("part"))
        key = as_text(part.get("messageID"))
        messages.setdefault(key, []).append(part)
        if line["type"] == "step_finish":
            counts[key] = part.get("tokens")
    return [
        {
            "info": {"role": "assistant", "tokens": counts.get(key)},
            # Tools are printed when they finish; the ids of parts grow.
            "parts": sorted(parts, key=lambda part: as_text(as_object(part).get("id")) or ""),
        }
        for key, parts in messages.items()
    ]


def _is_message(message: dict[str, Json]) -> bool:
    return "role" in as_object(message.get("info")) and isinstance(message.get("parts"), list)


def _add_message(builder: TurnBuilder, message: dict[str, Json]) -> None:
    info, parts = as_object(message.get("info")), objects_in(message.get("parts"))
    # A synthetic text is what the program adds to the user's, such as an attached file.
    texts = [
        as_text(part.get("text")) or ""
        for part in parts
        if part.get("type") == "text" and part.get("synthetic") is not True
    ]
    text = "\n".join(filter(None, texts))
    if info.get("role") == "user":
        if text:
            builder.add_user_text(text)
    else:
        agent = as_text(info.get("agent")) or as_text(info.get("mode"))
        builder.add_agent(agent)
        for part in parts:
            if part.get("type") == "tool":
                _add_tool(builder, part, agent)
        if text:
            builder.add_answer(agent or "", text)
        _add_model_call(builder, info, agent)
    for time in as_object(info.get("time")).values():
        builder.add_time(instant(time))


def _add_tool(builder: TurnBuilder, part: dict[str, Json], agent: str | None) -> None:
    name, key = as_text(part.get("tool")) or "", as_text(part.get("callID"))
    state = as_object(part.get("state"))
    builder.add_call(ToolCall(name=name, args=state.get("input"), id=key, agent=agent))
    if state.get("status") == "error":
        reason = as_text(state.get("error")) or TOOL_FAILED
        builder.add_result(ToolResult(name=name, id=key, result=reason, error=reason))
    elif "output" in state:
        value = decode_structure(state["output"])
        builder.add_result(ToolResult(name=name, id=key, result=value))


def _add_model_call(builder: TurnBuilder, info: dict[str, Json], agent: str | None) -> None:
    tokens = as_object(info.get("tokens"))
    cache = as_object(tokens.get("cache"))
    read, written = as_count(cache.get("read")), as_count(cache.get("write"))
    sent = as_count(tokens.get("input"))
    output, thoughts = as_count(tokens.get("output")), as_count(tokens.get("reasoning"))
    if sent is None and output is None:
        return
    usage = Usage(  # cached tokens and thoughts are counted beside the input and the output
        input_tokens=None if sent is None else sent + (read or 0) + (written or 0),
        output_tokens=None if output is None else output + (thoughts or 0),
        cached_tokens=read,
        cache_write_tokens=written,
        reasoning_tokens=thoughts,
    )
    model = as_text(info.get("modelID"))
    builder.add_model_call(ModelCall(model=model, usage=usage, agent=agent))
