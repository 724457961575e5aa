"""Bot Framework and Microsoft 365 Agents transcripts: one activity per line or in a list.

A transcript records what was said, not how the bot worked: its tool calls are unknown, unless the
bot wrote the items of OpenAI's Responses API as the values of activities.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from carob.schema import Json, Trace
from carob.traces.containers.chat import Chat
from carob.traces.shape import as_array, as_object, as_text, first_value, objects_in

_ROLES = {"user": "user", "bot": "assistant", "skill": "assistant"}
_READERS = {"user": "assistant", "bot": "user", "skill": "user"}
"""The writer by the role of whom an activity is for: bots often state the role of users only."""
_TOOL_ITEMS = frozenset(("function_call", "function_call_output"))


class BotFramework:
    """Activities: objects with a `type`, and a `from` or `recipient` that has a role."""

    name = "bot-framework"

    def claims(self, item: Json) -> bool:
        return bool(as_array(item)) and all(map(self.claims_line, as_array(item)))

    def claims_line(self, item: Json) -> bool:
        fields = as_object(item)
        return isinstance(fields.get("type"), str) and _role(fields) is not None

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        messages: list[Json] = [
            message
            for activity in objects_in(item)
            if (message := _read_activity(activity)) is not None
        ]
        for trace in Chat().read(messages, source=source):
            turns = [
                turn if turn.tool_calls else msgspec.structs.replace(turn, tool_calls=None)
                for turn in trace.turns
            ]
            yield msgspec.structs.replace(trace, turns=tuple(turns))


def _role(activity: dict[str, Json]) -> str | None:
    writer = as_object(first_value(activity, "from", "from_property"))  # Python's SDK: the latter
    reader = as_object(activity.get("recipient"))
    if role := _ROLES.get(as_text(writer.get("role")) or ""):
        return role
    if not writer or "conversation" not in activity:
        return None
    if role := _READERS.get(as_text(reader.get("role")) or ""):
        return role
    # Without any role, an answer is still known by the activity that it answers.
    return "assistant" if first_value(activity, "replyToId", "reply_to_id") else None


def _read_activity(activity: dict[str, Json]) -> Json:
    """A message or a tool item; the others show that the bot is typing, or carry other values."""
    around: dict[str, Json] = {
        "timestamp": first_value(activity, "timestamp", "localTimestamp", "local_timestamp"),
        "conversation_id": as_object(activity.get("conversation")).get("id"),
    }
    value = as_object(activity.get("value"))
    if as_text(value.get("type")) in _TOOL_ITEMS:
        return value | around
    if activity.get("type") != "message" or not as_text(activity.get("text")):
        return None
    return {"role": _role(activity), "content": activity.get("text"), **around}
