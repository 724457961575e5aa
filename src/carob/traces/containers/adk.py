"""ADK: the history of evaluations, sessions with their events, and events alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from carob.schema import Json, Trace, Turn
from carob.traces.messages.adk import invocation_turn, session_trace
from carob.traces.shape import as_array, as_object, as_text, decode_structure, fold_keys, objects_in


class AdkHistory:
    """An `EvalSetResult`, or one of its case results."""

    name = "adk-history"

    def claims(self, item: Json) -> bool:
        fields = fold_keys(as_object(item))
        results = fields.get("evalcaseresults")
        if isinstance(results, list):
            # Vertex AI's evaluation results have the same key, and no session in them.
            return all(_is_case(fold_keys(as_object(result))) for result in results)
        return _is_case(fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = fold_keys(as_object(item))
        results = (
            [as_object(item)] if _is_case(fields) else objects_in(fields.get("evalcaseresults"))
        )
        run = as_text(fields.get("evalsetresultid")) or ""
        for result in results:
            yield _trace(fold_keys(result), run, source)


def _is_case(fields: dict[str, Json]) -> bool:
    return "evalid" in fields and ("sessiondetails" in fields or _PER_TURN in fields)


_PER_TURN = "evalmetricresultperinvocation"


def _trace(result: dict[str, Json], run: str, source: str) -> Trace:
    case = as_text(result.get("evalid"))
    session = as_text(result.get("sessionid")) or None
    details = decode_structure(result.get("sessiondetails"))
    trace = session_trace(details, source=source, case=case)
    turns = [fold_keys(as_object(turn)) for turn in objects_in(result.get(_PER_TURN))]
    actual = [turn.get("actualinvocation") for turn in turns]
    if fold_keys(as_object(details)).get("events"):
        measured = {turn.id: turn for turn in map(invocation_turn, actual) if turn.id}
        turns = tuple(_add_measured(turn, measured.get(turn.id or "")) for turn in trace.turns)
    else:
        turns = _date_turns([*map(invocation_turn, actual)])
    trace = msgspec.structs.replace(trace, turns=turns)
    return msgspec.structs.replace(
        trace,
        id=session or (trace.conversation or f"{run}/{case}"),
        conversation=session or trace.conversation,
        attributes=trace.attributes | _run_attributes(result, run),
    )


def _add_measured(turn: Turn, actual: Turn | None) -> Turn:
    """Add the measured duration and response. Events have the time at which they were written, not
    a duration, and there is no event for an empty response."""
    if actual is None:
        return turn
    if turn.response is None:
        turn = msgspec.structs.replace(turn, response=actual.response)
    if actual.start is None or actual.end is None or turn.start is None:
        return turn
    return msgspec.structs.replace(turn, end=turn.start + actual.end - actual.start)


def _date_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Let turns that have a duration but no date begin where the previous turn ends."""
    dated = [index for index, turn in enumerate(turns) if turn.start]
    leading = turns[: dated[0]] if dated else ()
    now = (turns[dated[0]].start or 0 if dated else 0) - sum(turn.end or 0 for turn in leading)
    result_turns: list[Turn] = []
    for turn in turns:
        start, end = turn.start, turn.end
        if start == 0 and end is not None:
            start, end = now, now + end
        result_turns.append(msgspec.structs.replace(turn, start=start, end=end))
        now = end or now
    return tuple(result_turns)


def _run_attributes(result: dict[str, Json], run: str) -> dict[str, Json]:
    attributes: dict[str, Json] = {
        "eval_set_result_id": run or None,
        "eval_set_id": result.get("evalsetid"),
        "final_eval_status": result.get("finalevalstatus"),
    }
    return {key: value for key, value in attributes.items() if value is not None}


_EVENT_KEYS = ("content", "actions", "invocationid", "errorcode")


class AdkSession:
    """A session: events that have an `author`."""

    name = "adk-session"

    def claims(self, item: Json) -> bool:
        fields = fold_keys(as_object(item))
        events = decode_structure(fields.get("events"))
        return are_events(item) or are_events(events) or (events == [] and "appname" in fields)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        session: dict[str, Json] = {"events": item} if isinstance(item, list) else as_object(item)
        if fold_keys(session).get("events"):
            yield session_trace(session, source=source)


def are_events(value: Json) -> bool:
    """Whether this is a list of ADK events."""
    return bool(as_array(value)) and all(map(_is_event, as_array(value)))


def _is_event(value: Json) -> bool:
    event = fold_keys(as_object(value))
    return "author" in event and any(key in event for key in _EVENT_KEYS)
