"""What an item is that no container claims: a known kind of file, or nearly one of a container."""

from __future__ import annotations

from typing import NamedTuple

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
"""How the event types of CrewAI, and of logs like its, end."""
_CREWAI = ("crew_", "agent_execution_", "task_", "tool_usage_", "llm_call_", "llm_stream_", "flow_")
"""How CrewAI's event types begin."""


def is_log_event(item: dict[str, Json]) -> bool:
    """Whether an object is an event of a log such as CrewAI's, of which some carry messages.

    The messages of one event are a part of the run; read as a chat, each would be a run.
    """
    kind = as_text(item.get("type")) or as_text(item.get("event"))
    return kind is not None and kind.endswith(_PHASES)


class Foreign(NamedTuple):
    """A known kind of file that is not read."""

    name: str
    hint: str


_SPANS = "export the agent's OpenTelemetry spans instead"
_BATCH = "join each request with its response, as messages with a role and content"
_FOREIGN: tuple[tuple[frozenset[str], Foreign], ...] = (
    (
        frozenset(("choices", "object")),
        Foreign("a model's response", "store the messages of the conversation, or spans"),
    ),
    (
        frozenset(("custom_id", "response", "error")),
        Foreign("the output of a batch of requests", _BATCH),
    ),
    (
        frozenset(("custom_id", "method", "url", "body")),
        Foreign("the input of a batch of requests", _BATCH),
    ),
    (
        frozenset(("event", "run_id", "name", "data")),
        Foreign("a stream of LangChain's events", _SPANS),
    ),
    (
        frozenset(("ts", "type", "say")),
        Foreign(
            "the list of messages that Cline shows", "read api_conversation_history.json beside it"
        ),
    ),
    (
        frozenset(("mapping", "title", "create_time")),
        Foreign("ChatGPT's data export", "export the messages as a list with role and content"),
    ),
    (
        frozenset(("traceEvents",)),
        Foreign("a profile of a program in Chrome's format", _SPANS),
    ),
)
"""Kinds of files by the keys that all of their items have."""


def name_foreign(item: Json) -> Foreign | None:
    """Return what an item is, if it is known and not read."""
    fields = as_object(item)
    if is_log_event(fields):
        kind = as_text(fields.get("type")) or as_text(fields.get("event")) or ""
        is_crewai = kind.startswith(_CREWAI)
        name = "a CrewAI event log" if is_crewai else f"a log of events such as {kind!r}"
        return Foreign(name, _SPANS)
    if any(key.startswith("gen_ai.") for key in fields):
        return Foreign("the attributes of a span", "export whole spans, with their ids and times")
    return next((foreign for keys, foreign in _FOREIGN if fields.keys() >= keys), None)


def find_nearest(item: Json) -> tuple[str, list[str]] | None:
    """Return the container whose keys the item has most of, and those that it lacks."""
    fields = as_object(item)
    lacking = {name: [key for key in keys if key not in fields] for name, keys in _KEYS.items()}
    name = min(lacking, key=lambda name: len(lacking[name]) / len(_KEYS[name]))
    # Half of the keys are often those that any log has, such as a type and a timestamp.
    is_near = 2 * len(lacking[name]) < len(_KEYS[name])
    return (name, lacking[name]) if is_near else None
