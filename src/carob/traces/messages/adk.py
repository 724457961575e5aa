"""Google ADK's contents, events, invocations and sessions, as turns and traces.

Keys may be in snake case or camel case.
"""

from __future__ import annotations

import msgspec

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import gemini_usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_array,
    as_object,
    as_text,
    decode_structure,
    first_value,
    fold_keys,
    objects_in,
)

_USER = "user"


def parts_of(content: Json) -> list[dict[str, Json]]:
    """Return the parts of a `Content`, keys folded.

    In evaluations of tRPC-agent-go, it is a message with a text as `content`, or its parts.
    """
    content = decode_structure(content)
    if isinstance(content, str):
        return [{"text": content}]
    fields = fold_keys(as_object(content))
    if isinstance(text := fields.get("content"), str):
        return [{"text": text}]
    return [fold_keys(part) for part in objects_in(first_value(fields, "parts", "contentparts"))]


def text_of(content: Json) -> str | None:
    """Return the text of a `Content` without the model's thoughts; `None` if it has none.

    Parts are joined as ADK itself joins them.
    """
    lines = [as_text(part["text"]) for part in parts_of(content) if _is_text(part)]
    return "\n".join(line for line in lines if line) if lines else None


def _is_text(part: dict[str, Json]) -> bool:
    return isinstance(part.get("text"), str) and not part.get("thought")


def calls_of(content: Json, *, agent: str | None = None, at: int | None = None) -> list[ToolCall]:
    """Return the function calls in a `Content`."""
    calls = [part.get("functioncall") for part in parts_of(content)]
    return [call_of(call, agent=agent, at=at) for call in calls if isinstance(call, dict)]


def call_of(item: dict[str, Json], *, agent: str | None = None, at: int | None = None) -> ToolCall:
    """Read a function call. Missing arguments stay missing: ADK writes out empty ones."""
    fields = fold_keys(item)
    return ToolCall(
        name=as_text(fields.get("name")) or "",
        args=fields.get("args"),
        id=as_text(fields.get("id")) or None,
        agent=agent,
        start=at,
    )


def results_of(content: Json) -> list[ToolResult]:
    """Return the function responses in a `Content`."""
    results = [part.get("functionresponse") for part in parts_of(content)]
    return [result_of(result) for result in results if isinstance(result, dict)]


def result_of(item: dict[str, Json]) -> ToolResult:
    """Read a function response; ADK reports a failed call under `error`."""
    fields = fold_keys(item)
    response = fields.get("response")
    return ToolResult(
        name=as_text(fields.get("name")),
        id=as_text(fields.get("id")) or None,
        result=response,
        error=as_text(as_object(response).get("error")),
    )


def event_turns(events: Json) -> tuple[Turn, ...]:
    """Build the turns of a list of events, one for each invocation that says or does something.

    ADK's web UI stores state changes between the events of a turn as events of their own, with an
    invocation id that no other event has. They are not turns, and their author is not an agent.
    """
    builder = TurnBuilder()
    for invocation, own_events in _group_by_invocation(events).items():
        if any(not _EVENT_CONTENT.isdisjoint(event) for event in own_events):
            builder.start_turn(invocation)
            for event in own_events:
                _add_event(builder, event)
    return builder.turns()


_EVENT_CONTENT = frozenset(
    ("content", "errorcode", "errormessage", "usagemetadata", "groundingmetadata")
)


def _group_by_invocation(events: Json) -> dict[str | None, list[dict[str, Json]]]:
    """The events of each invocation; an event that names none belongs to the last one."""
    groups: dict[str | None, list[dict[str, Json]]] = {}
    current: str | None = None
    for event in map(fold_keys, objects_in(events)):
        if event.get("partial") is True:  # the complete event repeats the text of the partial ones
            continue
        current = as_text(event.get("invocationid")) or current
        groups.setdefault(current, []).append(event)
    return groups


def _add_event(builder: TurnBuilder, event: dict[str, Json]) -> None:
    content, author = event.get("content"), as_text(event.get("author")) or ""
    time = instant(event.get("timestamp"))
    content_text = text_of(content)
    if author == _USER:
        if content_text is not None:
            builder.add_user_text(content_text)
    else:
        builder.add_agent(author)
        _add_model_call(builder, event, author)
        if content_text:
            builder.add_answer(author, content_text)
    builder.add_time(time)
    for call in calls_of(content, agent=author or None, at=time):
        builder.add_call(call)
    for result in results_of(content):
        builder.add_result(result, time=time)
    builder.add_grounding(_chunks(event))
    error = first_value(event, "errormessage", "errorcode")
    if error is not None:
        builder.add_error(as_text(error) or repr(error))


def _add_model_call(builder: TurnBuilder, event: dict[str, Json], author: str) -> None:
    usage = gemini_usage_of(event.get("usagemetadata"))
    if usage is None and not {"usagemetadata", "modelversion"} & event.keys():
        return
    reason = event.get("finishreason")
    builder.add_model_call(
        ModelCall(
            model=as_text(event.get("modelversion")),
            usage=usage or Usage(),
            agent=author or None,
            finish_reason=as_text(reason),
            end=instant(event.get("timestamp")),
        )
    )


def _chunks(event: dict[str, Json]) -> list[Json]:
    chunks = fold_keys(as_object(event.get("groundingmetadata"))).get("groundingchunks")
    return chunks if isinstance(chunks, list) else []


def state_of(events: Json) -> dict[str, Json]:
    """Return the state after all events; temporary keys end with their invocation."""
    state: dict[str, Json] = {}
    for event in map(fold_keys, objects_in(events)):
        delta = as_object(fold_keys(as_object(event.get("actions"))).get("statedelta"))
        state.update({key: value for key, value in delta.items() if not key.startswith("temp:")})
    return state


def invocation_turn(invocation: Json) -> Turn:
    """Build the turn of an `Invocation`, as evaluations record it."""
    fields = fold_keys(as_object(invocation))
    builder = TurnBuilder()
    builder.start_turn(as_text(fields.get("invocationid")) or None)
    content_text = text_of(fields.get("usercontent"))
    if content_text is not None:
        builder.add_user_text(content_text)
    _add_steps(builder, fold_keys(as_object(fields.get("intermediatedata"))))
    _add_trpc_steps(builder, fields)
    final = text_of(fields.get("finalresponse"))
    if final is None:
        builder.mark_unanswered()
    elif final != builder.last_answer:
        builder.add_answer("", final)
    turn = _add_times(next(iter(builder.turns()), Turn(tool_calls=())), fields)
    if final is None and fields:  # an evaluation records every response and call: there was none
        turn = msgspec.structs.replace(turn, response="", tool_calls=turn.tool_calls or ())
    app = fold_keys(as_object(fields.get("appdetails"))).get("agentdetails")
    return msgspec.structs.replace(turn, app=app) if isinstance(app, dict) else turn


def _add_steps(builder: TurnBuilder, data: dict[str, Json]) -> None:
    for event in map(fold_keys, objects_in(data.get("invocationevents"))):
        _add_event(builder, event)
    for call in objects_in(data.get("tooluses")):
        builder.add_call(call_of(call))
    for result in objects_in(data.get("toolresponses")):
        builder.add_result(result_of(result))
    for content_text in as_array(data.get("intermediateresponses")):
        match content_text:
            case [str() as author, list() as parts]:
                _add_event(builder, {"author": author, "content": {"parts": parts}})
            case _:
                pass


def _add_trpc_steps(builder: TurnBuilder, fields: dict[str, Json]) -> None:
    """Add what tRPC-agent-go lists in the invocation itself: texts, and tools with results."""
    for message in objects_in(fields.get("intermediateresponses")):
        if text := text_of(message):
            builder.add_answer("", text)
    tools = [fold_keys(tool) for tool in objects_in(fields.get("tools"))]
    for tool in tools:
        builder.add_call(call_of({**tool, "args": tool.get("arguments")}))
        if "result" in tool:
            builder.add_result(result_of({**tool, "response": tool["result"]}))
    if "executiontrace" in fields and not tools:  # of an agent elsewhere, only the steps are known
        builder.mark_calls_unknown()


def _add_times(turn: Turn, fields: dict[str, Json]) -> Turn:
    """Add the times. Start and duration are recorded separately, and one may be missing: a turn
    with a duration only starts at 0."""
    start = instant(fields.get("creationtimestamp"))
    duration = fields.get("duration")
    if isinstance(duration, int | float) and 0 <= duration < 1e9:
        start = start or 0
        return msgspec.structs.replace(turn, start=start, end=start + round(duration * 1e9))
    return msgspec.structs.replace(turn, start=start) if turn.start is None else turn


def session_trace(item: Json, *, source: str, case: str | None = None) -> Trace:
    """Build the trace of a session from its events and its final state."""
    fields = fold_keys(as_object(item))
    events = decode_structure(fields.get("events"))
    state = decode_structure(fields.get("state"))
    session = as_text(fields.get("id")) or ""
    return Trace(
        id=session or content_digest_id(item),
        turns=event_turns(events),
        source=source,
        convention="adk",
        mapper="adk-events@4",
        conversation=session or None,
        case=case,
        state=state if isinstance(state, dict) else state_of(events) or None,
        attributes=_session_fields(fields),
    )


def _session_fields(fields: dict[str, Json]) -> dict[str, Json]:
    values = {"app_name": fields.get("appname"), "user_id": fields.get("userid")}
    return {key: value for key, value in values.items() if value is not None}
