"""ADK's contents, events, invocations and sessions, in snake and camel case → turns and traces."""

from __future__ import annotations

import msgspec

from carob.schema import Json, ModelCall, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.messages.dialogue import Dialogue
from carob.traces.messages.usage import gemini_usage_of
from carob.traces.normalize import derived_id, instant
from carob.traces.shape import first, folded, parsed, rows, table, tables, text

_USER = "user"


def parts_of(content: Json) -> list[dict[str, Json]]:
    """The parts of a `Content`, keys folded."""
    content = parsed(content)
    if isinstance(content, str):
        return [{"text": content}]
    return [folded(part) for part in tables(folded(table(content)).get("parts"))]


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
    held = folded(item)
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
    held = folded(item)
    response = held.get("response")
    return ToolResult(
        name=text(held.get("name")),
        id=text(held.get("id")) or None,
        result=response,
        error=text(table(response).get("error")),
    )


def turns_of(events: Json) -> tuple[Turn, ...]:
    """The turns of a list of events: one for each invocation."""
    dialogue = Dialogue()
    current: str | None = None
    for event in map(folded, tables(events)):
        if event.get("partial") is True:  # the complete event repeats what the fragments said
            continue
        invocation = text(event.get("invocationid")) or current
        if invocation != current:
            dialogue.begin(invocation)
            current = invocation
        _tell(dialogue, event)
    return dialogue.turns()


def _tell(dialogue: Dialogue, event: dict[str, Json]) -> None:
    content, author = event.get("content"), text(event.get("author")) or ""
    time = instant(event.get("timestamp"))
    said = text_of(content)
    if author == _USER:
        if said is not None:
            dialogue.user(said)
    else:
        dialogue.agent(author)
        _model(dialogue, event, author)
        if said:
            dialogue.say(author, said)
    dialogue.at(time)
    for call in calls_of(content, agent=author or None, at=time):
        dialogue.call(call)
    for result in results_of(content):
        dialogue.result(result, at=time)
    dialogue.ground(_chunks(event))
    error = first(event, "errormessage", "errorcode")
    if error is not None:
        dialogue.fail(text(error) or repr(error))


def _model(dialogue: Dialogue, event: dict[str, Json], author: str) -> None:
    usage = gemini_usage_of(event.get("usagemetadata"))
    if usage is None and not {"usagemetadata", "modelversion"} & event.keys():
        return
    reason = event.get("finishreason")
    dialogue.model(
        ModelCall(
            model=text(event.get("modelversion")),
            usage=usage or Usage(),
            agent=author or None,
            finish_reason=text(reason),
            end=instant(event.get("timestamp")),
        )
    )


def _chunks(event: dict[str, Json]) -> list[Json]:
    chunks = folded(table(event.get("groundingmetadata"))).get("groundingchunks")
    return chunks if isinstance(chunks, list) else []


def state_of(events: Json) -> dict[str, Json]:
    """The state that the events leave behind; what is temporary does not outlive its invocation."""
    state: dict[str, Json] = {}
    for event in map(folded, tables(events)):
        delta = table(folded(table(event.get("actions"))).get("statedelta"))
        state.update({key: value for key, value in delta.items() if not key.startswith("temp:")})
    return state


def turn_of(invocation: Json) -> Turn:
    """The turn of an `Invocation`, as evaluations record it."""
    held = folded(table(invocation))
    dialogue = Dialogue()
    dialogue.begin(text(held.get("invocationid")) or None)
    said = text_of(held.get("usercontent"))
    if said is not None:
        dialogue.user(said)
    _tell_steps(dialogue, folded(table(held.get("intermediatedata"))))
    final = text_of(held.get("finalresponse"))
    if final is None:
        dialogue.leave_unanswered()
    elif final != dialogue.last:
        dialogue.say("", final)
    turn = _timed(next(iter(dialogue.turns()), Turn(tool_calls=())), held)
    if final is None and held:  # an evaluation records all that was answered: it was nothing
        turn = msgspec.structs.replace(turn, response="")
    app = folded(table(held.get("appdetails"))).get("agentdetails")
    return msgspec.structs.replace(turn, app=app) if isinstance(app, dict) else turn


def _tell_steps(dialogue: Dialogue, data: dict[str, Json]) -> None:
    for event in map(folded, tables(data.get("invocationevents"))):
        _tell(dialogue, event)
    for call in tables(data.get("tooluses")):
        dialogue.call(call_of(call))
    for result in tables(data.get("toolresponses")):
        dialogue.result(result_of(result))
    for said in rows(data.get("intermediateresponses")):
        match said:
            case [str() as author, list() as parts]:
                _tell(dialogue, {"author": author, "content": {"parts": parts}})
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
    held = folded(table(item))
    events = parsed(held.get("events"))
    state = parsed(held.get("state"))
    session = text(held.get("id")) or ""
    return Trace(
        id=session or derived_id(item),
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
