"""ADK's contents, events, invocations and sessions, in snake and camel case → turns and traces."""

from __future__ import annotations

import msgspec

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import gemini_usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import decode_structure, first, fold_keys, rows, table, tables, text

_USER = "user"


def parts_of(content: Json) -> list[dict[str, Json]]:
    """The parts of a `Content`, keys folded."""
    content = decode_structure(content)
    if isinstance(content, str):
        return [{"text": content}]
    return [fold_keys(part) for part in tables(fold_keys(table(content)).get("parts"))]


def text_of(content: Json) -> str | None:
    """What a `Content` says aloud, without the model's thoughts; `None` if it has no text."""
    said = [text(part["text"]) for part in parts_of(content) if _is_said(part)]
    return "\n".join(line for line in said if line) if said else None


def _is_said(part: dict[str, Json]) -> bool:
    return isinstance(part.get("text"), str) and not part.get("thought")


def thoughts_of(content: Json) -> list[str]:
    """What the model thought."""
    held = [part.get("text") for part in parts_of(content) if part.get("thought")]
    return [thought for thought in held if isinstance(thought, str)]


def calls_of(content: Json, *, agent: str | None = None, at: int | None = None) -> list[ToolCall]:
    """The function calls in a `Content`."""
    held = [part.get("functioncall") for part in parts_of(content)]
    return [call_of(call, agent=agent, at=at) for call in held if isinstance(call, dict)]


def call_of(item: dict[str, Json], *, agent: str | None = None, at: int | None = None) -> ToolCall:
    """One function call. Absent arguments stay absent: to ADK they are not empty ones, which it
    writes out."""
    held = fold_keys(item)
    return ToolCall(
        name=text(held.get("name")) or "",
        args=held.get("args"),
        id=text(held.get("id")) or None,
        agent=agent,
        start=at,
    )


def results_of(content: Json) -> list[ToolResult]:
    """The function responses in a `Content`."""
    held = [part.get("functionresponse") for part in parts_of(content)]
    return [result_of(result) for result in held if isinstance(result, dict)]


def result_of(item: dict[str, Json]) -> ToolResult:
    """One function response; ADK reports a failed call under `error`."""
    held = fold_keys(item)
    response = held.get("response")
    return ToolResult(
        name=text(held.get("name")),
        id=text(held.get("id")) or None,
        result=response,
        error=text(table(response).get("error")),
    )


def turns_of(events: Json) -> tuple[Turn, ...]:
    """The turns of a list of events: one for each invocation."""
    builder = TurnBuilder()
    current: str | None = None
    for event in map(fold_keys, tables(events)):
        if event.get("partial") is True:  # the complete event repeats what the fragments said
            continue
        invocation = text(event.get("invocationid")) or current
        if invocation != current:
            builder.start_turn(invocation)
            current = invocation
        _tell(builder, event)
    return builder.turns()


def _tell(builder: TurnBuilder, event: dict[str, Json]) -> None:
    content, author = event.get("content"), text(event.get("author")) or ""
    time = instant(event.get("timestamp"))
    said = text_of(content)
    if author == _USER:
        if said is not None:
            builder.add_user_text(said)
    else:
        builder.add_agent(author)
        _model(builder, event, author)
        if said:
            builder.add_answer(author, said)
    builder.add_time(time)
    for call in calls_of(content, agent=author or None, at=time):
        builder.add_call(call)
    for result in results_of(content):
        builder.add_result(result, time=time)
    builder.add_grounding(_chunks(event))
    error = first(event, "errormessage", "errorcode")
    if error is not None:
        builder.add_error(text(error) or repr(error))


def _model(builder: TurnBuilder, event: dict[str, Json], author: str) -> None:
    usage = gemini_usage_of(event.get("usagemetadata"))
    if usage is None and not {"usagemetadata", "modelversion"} & event.keys():
        return
    reason = event.get("finishreason")
    builder.add_model_call(
        ModelCall(
            model=text(event.get("modelversion")),
            usage=usage or Usage(),
            agent=author or None,
            finish_reason=text(reason),
            end=instant(event.get("timestamp")),
        )
    )


def _chunks(event: dict[str, Json]) -> list[Json]:
    chunks = fold_keys(table(event.get("groundingmetadata"))).get("groundingchunks")
    return chunks if isinstance(chunks, list) else []


def state_of(events: Json) -> dict[str, Json]:
    """The state that the events leave behind; what is temporary does not outlive its invocation."""
    state: dict[str, Json] = {}
    for event in map(fold_keys, tables(events)):
        delta = table(fold_keys(table(event.get("actions"))).get("statedelta"))
        state.update({key: value for key, value in delta.items() if not key.startswith("temp:")})
    return state


def turn_of(invocation: Json) -> Turn:
    """The turn of an `Invocation`, as evaluations record it."""
    held = fold_keys(table(invocation))
    builder = TurnBuilder()
    builder.start_turn(text(held.get("invocationid")) or None)
    said = text_of(held.get("usercontent"))
    if said is not None:
        builder.add_user_text(said)
    _tell_steps(builder, fold_keys(table(held.get("intermediatedata"))))
    final = text_of(held.get("finalresponse"))
    if final is None:
        builder.mark_unanswered()
    elif final != builder.last_answer:
        builder.add_answer("", final)
    turn = _timed(next(iter(builder.turns()), Turn(tool_calls=())), held)
    if final is None and held:  # an evaluation records all that was answered: it was nothing
        turn = msgspec.structs.replace(turn, response="")
    app = fold_keys(table(held.get("appdetails"))).get("agentdetails")
    return msgspec.structs.replace(turn, app=app) if isinstance(app, dict) else turn


def _tell_steps(builder: TurnBuilder, data: dict[str, Json]) -> None:
    for event in map(fold_keys, tables(data.get("invocationevents"))):
        _tell(builder, event)
    for call in tables(data.get("tooluses")):
        builder.add_call(call_of(call))
    for result in tables(data.get("toolresponses")):
        builder.add_result(result_of(result))
    for said in rows(data.get("intermediateresponses")):
        match said:
            case [str() as author, list() as parts]:
                _tell(builder, {"author": author, "content": {"parts": parts}})
            case _:
                pass


def _timed(turn: Turn, held: dict[str, Json]) -> Turn:
    """The turn with its times. How long it took is measured apart from when it began, and one of
    them may be known alone: a turn that is timed and not dated begins at 0."""
    start = instant(held.get("creationtimestamp"))
    duration = held.get("duration")
    if isinstance(duration, int | float) and 0 <= duration < 1e9:
        begun = start or 0
        return msgspec.structs.replace(turn, start=begun, end=begun + round(duration * 1e9))
    return msgspec.structs.replace(turn, start=start) if turn.start is None else turn


def session_of(item: Json, *, source: str, case: str | None = None) -> Trace:
    """The trace of a session: its events, and the state at its end."""
    held = fold_keys(table(item))
    events = decode_structure(held.get("events"))
    state = decode_structure(held.get("state"))
    session = text(held.get("id")) or ""
    return Trace(
        id=session or content_digest_id(item),
        turns=turns_of(events),
        source=source,
        convention="adk",
        mapper="adk-events@2",
        conversation=session or None,
        case=case,
        state=state if isinstance(state, dict) else state_of(events) or None,
        attributes=_about(held),
    )


def _about(held: dict[str, Json]) -> dict[str, Json]:
    found = {"app_name": held.get("appname"), "user_id": held.get("userid")}
    return {key: value for key, value in found.items() if value is not None}
