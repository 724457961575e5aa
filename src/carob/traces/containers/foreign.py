"""What an item is that no container claims: a known kind of file, or nearly one of a container."""

from __future__ import annotations

from carob.schema import Json
from carob.traces.shape import as_object, as_text

_KEYS: dict[str, tuple[str, ...]] = {
    "otlp": ("resource", "scopeSpans"),
    "jaeger": ("traceID", "spanID", "operationName"),
    "zipkin": ("traceId", "id", "timestamp", "localEndpoint"),
    "flat": ("trace_id", "span_id", "attributes"),
    "langsmith": ("run_type", "id", "trace_id", "inputs"),
    "weave": ("op_name", "id", "trace_id"),
    "braintrust": ("span_id", "root_span_id", "span_attributes"),
    "mastra": ("spanType", "spanId", "traceId"),
    "claude-code": ("type", "message", "sessionId"),
    "codex": ("type", "payload", "timestamp"),
    "atif": ("schema_version", "agent", "steps"),
    "inspect": ("version", "status", "eval", "samples"),
    "gemini-cli": ("sessionId", "projectHash", "messages"),
    "copilot": ("type", "data", "id", "timestamp", "parentId"),
    "continue": ("sessionId", "history", "workspaceDirectory"),
    "cline": ("sessionId", "agent", "messages", "version"),
    "assistants": ("object", "thread_id", "created_at"),
    "gemini-interactions": ("status", "model", "steps", "usage"),
    "adk-session": ("id", "app_name", "user_id", "events"),
    "chat": ("role", "content"),
}
"""The keys by which a reader would recognize the items of some containers."""
_PHASES = ("_started", "_completed", "_failed", "_finished", "_chunk")
"""How CrewAI's event types end."""


def is_log_event(item: dict[str, Json]) -> bool:
    """Whether an object is an event of a log such as CrewAI's, of which some carry messages.

    The messages of one event are a part of the run; read as a chat, each would be a run.
    """
    kind = as_text(item.get("type")) or as_text(item.get("event"))
    return kind is not None and kind.endswith(_PHASES)


def name_foreign(item: Json) -> str | None:
    """Return what an item is, if it is known and not read."""
    return "a CrewAI event log" if is_log_event(as_object(item)) else None


def find_nearest(item: Json) -> tuple[str, list[str]] | None:
    """Return the container whose keys the item has most of, and those that it lacks."""
    fields = as_object(item)
    lacking = {name: [key for key in keys if key not in fields] for name, keys in _KEYS.items()}
    name = min(lacking, key=lambda name: len(lacking[name]) / len(_KEYS[name]))
    is_near = 2 * len(lacking[name]) <= len(_KEYS[name])
    return (name, lacking[name]) if is_near else None
