"""Names for recordings that Carob does not read, so that an error can say what a file is."""

from __future__ import annotations

from carob.schema import Json
from carob.traces.shape import as_object, as_text

_PHASES = ("_started", "_completed", "_failed", "_finished", "_chunk")
"""How CrewAI's event types end."""
_BY_KEYS: dict[str, frozenset[str]] = {
    "a Gemini CLI session": frozenset(("sessionId", "projectHash", "messages")),
    "an OpenHands event": frozenset(("id", "source", "action", "args")),
}


def is_log_event(item: dict[str, Json]) -> bool:
    """Whether an object is an event of a log such as CrewAI's, of which some carry messages.

    The messages of one event are a part of the run; read as a chat, each would be a run.
    """
    kind = as_text(item.get("type")) or as_text(item.get("event"))
    return kind is not None and kind.endswith(_PHASES)


def name_foreign(item: Json) -> str | None:
    """Return what an item is, if it is known and not read."""
    fields = as_object(item)
    if is_log_event(fields):
        return "a CrewAI event log"
    return next((name for name, keys in _BY_KEYS.items() if fields.keys() >= keys), None)
