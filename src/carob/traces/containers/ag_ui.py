"""AG-UI: the events that an agent streams to a user interface, as a list or one per line.

The user's messages are part of the run's input, which only newer versions repeat in `RUN_STARTED`;
a `MESSAGES_SNAPSHOT` holds them as well. Without either, the user's words are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.schema import Json, Trace, Turn
from carob.traces.messages.chat import add_chat_message, chat_role
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_array, as_object, as_text, fold_keys, objects_in

_PREFIXES = ("TEXT_MESSAGE_", "TOOL_CALL_", "RUN_", "STEP_", "STATE_", "THINKING_", "REASONING_")
_TYPES = frozenset(("MESSAGES_SNAPSHOT", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA", "RAW", "CUSTOM"))


class AgUi:
    """Events whose `type` is one of AG-UI's."""

    name = "ag-ui"

    def claims(self, item: Json) -> bool:
        return bool(as_array(item)) and all(map(self.claims_line, as_array(item)))

    def claims_line(self, item: Json) -> bool:
        kind = as_object(item).get("type")
        return isinstance(kind, str) and (kind.startswith(_PREFIXES) or kind in _TYPES)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        for thread, events in _group_by_thread(item).items():
            yield Trace(
                id=thread or content_digest_id([*events]),
                turns=_turns(events),
                source=source,
                convention="ag-ui",
                mapper="ag-ui@1",
                conversation=thread,
            )


def _group_by_thread(item: Json) -> dict[str | None, list[dict[str, Json]]]:
    threads: dict[str | None, list[dict[str, Json]]] = {}
    thread: str | None = None
    for event in map(fold_keys, objects_in(item)):
        thread = as_text(event.get("threadid")) or thread
        threads.setdefault(thread, []).append(event)
    return threads


def _turns(events: Sequence[dict[str, Json]]) -> tuple[Turn, ...]:
    builder = TurnBuilder()
    for entry in _join_pieces(events):
        if "runid" in entry:
            builder.start_turn(as_text(entry["runid"]))
        elif "error" in entry:
            builder.add_error(as_text(entry["error"]) or "the run failed")
        else:
            add_chat_message(builder, entry)
    return builder.turns()


def _join_pieces(events: Sequence[dict[str, Json]]) -> list[dict[str, Json]]:
    """Chat messages, and the starts and errors of runs, in the order in which they began."""
    entries: list[dict[str, Json]] = []
    open_entries: dict[str, dict[str, Json]] = {}
    for event in events:
        kind = as_text(event.get("type")) or ""
        if kind == "MESSAGES_SNAPSHOT":  # repeats the conversation up to here
            entries = objects_in(event.get("messages"))
        elif kind == "RUN_STARTED":
            entries += _start_run(event)
        elif kind == "RUN_ERROR":
            entries.append({"error": event.get("message")})
        elif kind == "TOOL_CALL_RESULT":
            call_id, content = event.get("toolcallid"), event.get("content")
            entries.append({"role": "tool", "tool_call_id": call_id, "content": content})
        elif kind.startswith(("TEXT_MESSAGE_", "TOOL_CALL_")):
            key = as_text(event.get("messageid" if kind[1] == "E" else "toolcallid")) or ""
            if key not in open_entries:
                open_entries[key] = _start_text(event) if kind[1] == "E" else _start_call(event)
                entries.append(open_entries[key])
            _add_piece(open_entries[key], as_text(event.get("delta")) or "")
    return entries


def _start_run(event: dict[str, Json]) -> list[dict[str, Json]]:
    """A run answers the last user message of its input; the messages before it are history."""
    messages = objects_in(as_object(event.get("input")).get("messages"))
    asked = [message for message in messages[-1:] if chat_role(message) == "user"]
    return [{"runid": event.get("runid")}, *asked]


def _start_text(event: dict[str, Json]) -> dict[str, Json]:
    role = as_text(event.get("role")) or "assistant"
    return {"role": role, "content": "", "timestamp": event.get("timestamp")}


def _start_call(event: dict[str, Json]) -> dict[str, Json]:
    function: Json = {"name": event.get("toolcallname"), "arguments": ""}
    call: Json = {"id": event.get("toolcallid"), "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call], "timestamp": event.get("timestamp")}


def _add_piece(entry: dict[str, Json], piece: str) -> None:
    for call in objects_in(entry.get("tool_calls")):
        function = as_object(call.get("function"))
        function["arguments"] = f"{function['arguments']}{piece}"
        return
    entry["content"] = f"{entry['content']}{piece}"
