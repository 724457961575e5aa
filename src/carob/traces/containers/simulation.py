"""Rows of the simulation table: the spans in `session_trace`, else the session, else the columns.

Spans without message content only add times and model calls to what the columns state, and only if
there is no session: its events are what such spans are made from.

Other columns of a row are added to the resource of its spans: `carob.case.id` (the golden case),
`carob.conversation.id` and `carob.state` (the state at the end).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import msgspec

from carob.schema import AgentMessage, Json, Span, ToolCall, ToolResult, Trace, Turn
from carob.traces.containers.event_spans import (
    are_event_spans,
    event_span_turns,
    split_requested_tools,
)
from carob.traces.containers.flat import Flat, span_of
from carob.traces.mapping.enrich import enrich, turns_from_spans
from carob.traces.messages.adk import event_turns, session_trace
from carob.traces.normalize import content_digest_id
from carob.traces.shape import (
    as_object,
    as_text,
    decode_structure,
    first_value,
    fold_keys,
    objects_in,
)

_CONTENT = frozenset({"gcp.vertex.agent.llm_request", "gen_ai.input.messages"})
_SESSIONS = ("finalsessionstate", "sessionstate", "sessiondetails")


class Simulation:
    """A row with `session_trace`, or with `user_inputs` and `final_response`."""

    name = "simulation"

    def claims(self, item: Json) -> bool:
        fields = fold_keys(as_object(item))
        return "sessiontrace" in fields or {"userinputs", "finalresponse"} <= fields.keys()

    def read(self, item: Json, *, source: str) -> Iterator[Span | Trace]:
        fields = fold_keys(as_object(item))
        case = as_text(first_value(fields, "evalid", "questionid", "id"))
        spans = _spans_in(fields.get("sessiontrace"))
        session = decode_structure(first_value(fields, *_SESSIONS))
        has_events = bool(as_object(session).get("events"))
        if any(map(_has_content, spans)) or not (has_events or "userinputs" in fields):
            resource = _resource(fields, case)
            yield from (_add_resource(span, resource) for span in split_requested_tools(spans))
        elif has_events:
            yield session_trace(session, source=source, case=case)
        else:
            yield enrich(_trace(fields, source, case), _turns_from_column(spans))


def with_spans(trace: Trace) -> Trace:
    """The trace of a row, enriched from its spans or from the events of its session.

    The same source counts as in `Simulation.read`, so that a row has the same numbers as golden
    data and as a trace. The state is that of the session, if no column states it.
    """
    if not trace.attributes:
        return trace
    fields = fold_keys(trace.attributes)
    session = fold_keys(as_object(decode_structure(first_value(fields, *_SESSIONS))))
    spans = _spans_in(fields.get("sessiontrace"))
    turns = event_turns(decode_structure(session.get("events")))
    if not turns or any(map(_has_content, spans)):
        turns = _turns_from_column(spans) or turns
    state = decode_structure(session.get("state"))
    if trace.state is None and isinstance(state, dict):
        trace = msgspec.structs.replace(trace, state=state)
    return enrich(trace, turns)


def _turns_from_column(spans: list[Span]) -> Sequence[Turn]:
    if are_event_spans(spans):
        return event_span_turns(spans)
    return turns_from_spans(split_requested_tools(spans))


def _spans_in(cell: Json) -> list[Span]:
    spans = [span for span in objects_in(decode_structure(cell)) if Flat().claims(span)]
    return [span_of(span) for span in _in_nanoseconds(spans)]


def _in_nanoseconds(spans: list[dict[str, Json]]) -> list[dict[str, Json]]:
    """Mark the times of the column as nanoseconds. Where they count from the start of the session,
    they are small and would be taken for seconds."""
    rows = [fold_keys(span) for span in spans]
    earliest = min(
        (start for row in rows if type(start := row.get("starttime")) is int), default=None
    )
    if earliest is None or any(unit * _LONG_AGO < earliest < unit * _FAR_OFF for unit in _UNITS):
        return spans
    shift = earliest == 0  # which elsewhere is "not recorded"
    for row in rows:
        for name in ("starttime", "endtime"):
            time = row.get(name)
            if type(time) is int:
                row[f"{name}unixnano"] = time + shift
    return rows


_LONG_AGO, _FAR_OFF = 1_400_000_000, 2_400_000_000
"""Seconds: a start between 2014 and 2046 is a date, not an offset."""
_UNITS = (1, 10**3, 10**6, 10**9)


def _has_content(span: Span) -> bool:
    """Whether the span has messages. Spans often have nothing but names and times."""
    return not _CONTENT.isdisjoint(span.attributes)


def _resource(row: dict[str, Json], case: str | None) -> dict[str, Json]:
    resource: dict[str, Json] = {
        "carob.case.id": case,
        "carob.conversation.id": row.get("sessionid"),
        "carob.state": _state(row),
    }
    return {key: value for key, value in resource.items() if value is not None}


def _state(row: dict[str, Json]) -> dict[str, Json] | None:
    data = fold_keys(as_object(decode_structure(row.get("extracteddata"))))
    state = decode_structure(data.get("statevariables"))
    return state if isinstance(state, dict) else None


def _add_resource(span: Span, resource: dict[str, Json]) -> Span:
    return msgspec.structs.replace(span, resource=span.resource | resource)


def _trace(row: dict[str, Json], source: str, case: str | None) -> Trace:
    """The trace that the columns describe. They do not state in which turn a tool was called, so
    the last turn has all calls."""
    data = fold_keys(as_object(decode_structure(row.get("extracteddata"))))
    inputs = decode_structure(row.get("userinputs"))
    users: list[Json] = inputs if isinstance(inputs, list) else [inputs]
    session = as_text(row.get("sessionid"))
    last = _last_turn(row, data, users[-1:])
    return Trace(
        id=session or content_digest_id(row),
        turns=(
            *(Turn(user=as_text(user), tool_calls=_no_calls(data)) for user in users[:-1]),
            last,
        ),
        source=source,
        convention="simulation",
        mapper="simulation@2",
        conversation=session,
        case=case,
        state=_state(row),
    )


def _last_turn(row: dict[str, Json], data: dict[str, Json], user: list[Json]) -> Turn:
    calls = [fold_keys(item) for item in objects_in(decode_structure(data.get("toolinteractions")))]
    replies = [fold_keys(item) for item in objects_in(decode_structure(row.get("subagenttrace")))]
    messages = [
        (as_text(first_value(item, "name", "agentname")) or "", _message_text(item))
        for item in replies
    ]
    response = row.get("finalresponse")
    return Turn(
        user=as_text(user[0]) if user else None,
        response=response if isinstance(response, str) else _encode(response),
        tool_calls=None if _no_calls(data) is None else tuple(_call(item) for item in calls),
        tool_results=tuple(_result(item) for item in calls if "outputresult" in item),
        messages=tuple(AgentMessage(agent=agent, text=line) for agent, line in messages if line),
        agents=_agents([agent for agent, _ in messages if agent]),
    )


def _no_calls(data: dict[str, Json]) -> tuple[ToolCall, ...] | None:
    """The calls of the turns before the last: known to be none, or unknown."""
    return () if "toolinteractions" in data else None


def _message_text(item: dict[str, Json]) -> str | None:
    return as_text(first_value(item, "text", "textresponse"))


def _agents(names: list[str]) -> tuple[str, ...]:
    return tuple(name for index, name in enumerate(names) if names[:index][-1:] != [name])


def _encode(value: Json) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _call(item: dict[str, Json]) -> ToolCall:
    return ToolCall(
        name=as_text(item.get("toolname")) or "",
        args=decode_structure(item.get("inputarguments")),
        id=as_text(item.get("callid")),
    )


def _result(item: dict[str, Json]) -> ToolResult:
    return ToolResult(
        name=as_text(item.get("toolname")),
        id=as_text(item.get("callid")),
        result=decode_structure(item.get("outputresult")),
    )
