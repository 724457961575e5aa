"""Logs of an agent's own making: one row per request, with a question and an answer.

The common names are known; others are mapped: `user=frage,response=antwort,calls=steps[].tool`.
A row without anything that only a run has, such as a time or token counts, is golden data.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from carob.errors import UsageError
from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.schema.field_map import LOG_FIELDS, check_field_map
from carob.text.spelling import fold_name
from carob.traces.containers.registry import ContainerFinder
from carob.traces.mapping.sessions import TURN_NUMBER
from carob.traces.messages.message import last_answer, last_user
from carob.traces.messages.read import read_messages
from carob.traces.messages.tool_blocks import call_arguments
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_count,
    as_object,
    as_text,
    decode_structure,
    first_value,
    to_text,
)

_NAMES: dict[str, tuple[str, ...]] = {
    "user": ("query", "question", "input", "prompt", "user_input", "user_query", "user_message",
        "user_text"),
    "response": ("answer", "response", "output", "final_answer", "agent_response",
        "assistant_response", "assistant_text", "reply", "completion", "bot_response",
        "ai_response", "model_response", "llm_response", "chatbot_response", "bot_reply"),
    "calls": ("tool_calls", "tools_called", "tools_used", "calls", "steps"),
    "id": ("id", "trace_id", "run_id", "request_id"),
    "session": ("session_id", "conversation_id", "thread_id", "sessionId", "conversationId"),
    "model": ("model", "model_name"),
    "time": ("timestamp", "created_at", "time", "ts", "start_time"),
    "latency_ms": ("latency_ms", "duration_ms", "elapsed_ms"),
    "error": ("error", "error_message"),
    "input_tokens": ("input_tokens", "prompt_tokens", "tokens_in"),
    "output_tokens": ("output_tokens", "completion_tokens", "tokens_out"),
    "turn": ("turn_index", "turn_number", "turn", "turn_id", "message_index"),
}  # fmt: skip
_FOLDED = {field: tuple(map(fold_name, names)) for field, names in _NAMES.items()}
"""Tables of other people say `User Query` and `userQuery`."""
_RECORDED = frozenset(
    fold_name(name)
    for field in ("calls", "session", "model", "time", "latency_ms", "input_tokens")
    for name in _NAMES[field]
) | {"traceid", "runid", "requestid", "usage", "tokens", "latency", "duration"}
"""Names of which a row must have one; a question and an answer alone are golden data."""
_EXPECTED = ("expected", "groundtruth", "reference", "golden", "ideal")
_SPANS = frozenset(
    ("span_id", "spanId", "parent_id", "parentId", "parent_span_id", "parent_run_id")
)
_EVENTS = frozenset(("type", "kind", "event", "event_type", "span_type", "role", "step", "tool",
    "tool_name"))  # fmt: skip
"""Names in rows that are steps of a run. What a tool got and returned is its input and output too,
and must not become the words of the user and the agent."""
_TOOLS = frozenset(("tool", "tool_name"))
_WORKERS = frozenset(("agent", "agent_name", "node", "node_name", "component", "stage"))
"""Names of who did a step of a run. With an object as input or output, the row is that step; with
texts, it may be a request to the agent."""
_TOOL_NAMES = ("name", "tool", "tool_name", "function", "function_name")
_RESULT_NAMES = ("result", "output", "observation", "response")


class Log:
    """A row with a question, an answer, and something that only a run has."""

    name = "log"

    def __init__(self, mapping: Mapping[str, str] | None = None) -> None:
        self._mapping = dict(mapping or {})

    def claims(self, item: Json) -> bool:
        row = as_object(item)
        if self._mapping:
            wanted = [self._mapping[key] for key in ("user", "response") if key in self._mapping]
            return any(_values_at(row, path) for path in wanted)
        if self._read_user(row) is None or _is_step(row):
            return False
        names = {fold_name(name) for name in row}
        has_answer = not names.isdisjoint(_FOLDED["response"])
        return has_answer and not _RECORDED.isdisjoint(names) and not _is_golden(row)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        row = as_object(item)
        turn_number = as_count(_first_named(row, "turn"))
        start = instant(self._find(row, "time"))
        latency = as_count(self._find(row, "latency_ms"))
        calls, results = self._read_calls(row)
        error = self._find(row, "error")
        turn = Turn(
            user=self._read_user(row),
            response=last_answer(read_messages(self._find(row, "response"), "assistant")),
            tool_calls=calls,
            tool_results=results,
            model_calls=self._read_model_calls(row),
            error=to_text(error) if error else None,
            start=start,
            end=None if start is None or latency is None else start + latency * 10**6,
        )
        yield Trace(
            id=as_text(self._find(row, "id")) or content_digest_id(item),
            turns=(turn,),
            source=source,
            convention="log",
            mapper="log@2",
            conversation=as_text(self._find(row, "session")),
            attributes={} if turn_number is None else {TURN_NUMBER: turn_number},
        )

    def _read_user(self, row: dict[str, Json]) -> str | None:
        """What the user wrote. An object without a text is the input of a step, not a question."""
        value = self._find(row, "user")
        return None if value is None else last_user(read_messages(value, "user"))

    def _find(self, row: dict[str, Json], field: str) -> Json:
        if field in self._mapping:
            values = _values_at(row, self._mapping[field])
            # A mapped id may be that of the golden data only.
            if values or field != "id":
                return next(iter(values), None)
        return _first_named(row, field)

    def _read_model_calls(self, row: dict[str, Json]) -> tuple[ModelCall, ...]:
        model = as_text(self._find(row, "model"))
        usage = (
            usage_of(row.get("usage"))
            or usage_of(row.get("tokens"))
            or Usage(
                input_tokens=as_count(self._find(row, "input_tokens")),
                output_tokens=as_count(self._find(row, "output_tokens")),
                total_tokens=as_count(first_value(row, "total_tokens", "tokens")),
            )
        )
        return (ModelCall(model=model, usage=usage),) if model or usage != Usage() else ()

    def _read_calls(
        self, row: dict[str, Json]
    ) -> tuple[tuple[ToolCall, ...] | None, tuple[ToolResult, ...]]:
        path, key = self._mapping.get("calls"), None
        if path is None:
            key = next((name for name in row if fold_name(name) in _FOLDED["calls"]), None)
            if key is None:
                return None, ()
            items, names = decode_structure(row[key]), _TOOL_NAMES
        else:
            items, names = _items_at(row, path)
        if not isinstance(items, list):
            return None, ()
        calls: list[ToolCall] = []
        results: list[ToolResult] = []
        # The steps of a run are calls of models, thoughts and more; a list of calls has only calls.
        is_mixed = path is None and fold_name(key or "") == "steps"
        for item in items:
            fields = as_object(item)
            if is_mixed and not _is_call(fields):
                continue
            inner = as_object(fields.get("function")) or fields
            name = as_text(item) if not fields else as_text(first_value(inner, *names))
            if not name:
                continue
            call_id = as_text(fields.get("id"))
            calls.append(ToolCall(name=name, args=_arguments(inner), id=call_id))
            result = first_value(fields, *_RESULT_NAMES)
            if result is not None:
                results.append(ToolResult(name=name, id=call_id, result=decode_structure(result)))
        # Steps that name no tool say nothing about the tools that were called.
        is_complete = calls or not (items or is_mixed)
        return (tuple(calls) if is_complete else None), tuple(results)


def describe_lacking_field(item: Json) -> str | None:
    """Return how to name the question or the answer of a request, if only the other is known."""
    row = as_object(item)
    names = {field: _name_of(row, field) for field in ("user", "response")}
    known = next((field for field, name in names.items() if name), None)
    asked = names["user"]
    if asked and row[asked] is not None and last_user(read_messages(row[asked], "user")) is None:
        return f"{asked!r} has no text under a known name; name it with --map user={asked}.…"
    if known is None or all(names.values()) or _is_step(row) or not _TOOLS.isdisjoint(row):
        return None
    lacking = "response" if known == "user" else "user"
    noun = {"user": "question", "response": "answer"}
    return (
        f"the {noun[known]} is in {names[known]!r}, but no {noun[lacking]} has a known name;"
        f" name it with --map {lacking}=…"
    )


def _name_of(row: dict[str, Json], field: str) -> str | None:
    return next((name for name in row if fold_name(name) in _FOLDED[field]), None)


def map_logs(mapping: Mapping[str, str]) -> ContainerFinder:
    """Return a finder for rows with other names, such as `user=frage,response=antwort`."""
    check_field_map(mapping, LOG_FIELDS)
    if not mapping.keys() & {"user", "response"}:
        hint = "such as user=query,response=answer"
        raise UsageError("the mapping names no user and no response", hint=hint)
    return partial(_find_mapped, tuple(mapping.items()))


def _find_mapped(mapping: tuple[tuple[str, str], ...]) -> list[Log]:
    return [Log(dict(mapping))]


def _is_call(step: dict[str, Json]) -> bool:
    """Whether a step of a run is the call of a tool: its type says so, else it names a tool, or has
    a name and arguments."""
    kind = as_text(first_value(step, "type", "kind", "step_type"))
    if kind is not None:
        return _TOOL_TYPE.search(kind) is not None
    names = {"tool", "tool_name", "function", "function_name"}
    return not names.isdisjoint(step) or call_arguments(step) is not None


_TOOL_TYPE = re.compile("tool|function|action|mcp", re.IGNORECASE)


def _arguments(fields: dict[str, Json]) -> Json:
    args = call_arguments({key: v for key, v in fields.items() if key != "input"})
    return (
        args if args is not None else decode_structure(first_value(fields, "tool_input", "input"))
    )


def _is_step(row: dict[str, Json]) -> bool:
    is_ambiguous = "input" in row or "prompt" in row
    if is_ambiguous and not _WORKERS.isdisjoint(row):
        values = (decode_structure(row.get(key)) for key in ("input", "output"))
        if any(isinstance(value, dict) for value in values):
            return True
    return not _SPANS.isdisjoint(row) or (is_ambiguous and not _EVENTS.isdisjoint(row))


def _is_golden(row: dict[str, Json]) -> bool:
    return any(fold_name(name).startswith(_EXPECTED) for name in row)


def _first_named(row: dict[str, Json], field: str) -> Json:
    """The first value that a row states under a common name of a field, in any case style."""
    if (value := first_value(row, *_NAMES[field])) is not None:
        return value
    folded = {fold_name(name): value for name, value in reversed(row.items())}
    return next((folded[n] for n in _FOLDED[field] if folded.get(n) is not None), None)


def _values_at(row: dict[str, Json], path: str) -> list[Json]:
    """The values at a path such as `steps[].tool`, without nulls. A column may be called `a.b`, and
    is looked up before the path; in a table, `user query` is `User Query`."""
    if row.get(path) is not None:
        return [decode_structure(row[path])]
    if path not in row and "." not in path and "[" not in path:
        folded = {fold_name(name): value for name, value in row.items()}
        value = decode_structure(folded.get(fold_name(path)))
        return [] if value is None else [value]
    values: list[Json] = [row]
    for name in path.split("."):
        inner = [as_object(decode_structure(v)).get(name.removesuffix("[]")) for v in values]
        values = [value for value in map(decode_structure, inner) if value is not None]
        if name.endswith("[]"):
            values = [item for value in values if isinstance(value, list) for item in value]
    return values


def _items_at(row: dict[str, Json], path: str) -> tuple[Json, tuple[str, ...]]:
    """The calls at a path, and the key of their names: `tool` of `steps[].tool`."""
    around, bracket, name = path.rpartition("[].")
    if not bracket:
        return next(iter(_values_at(row, path.removesuffix("[]"))), None), _TOOL_NAMES
    return next(iter(_values_at(row, around)), None), (name,)
