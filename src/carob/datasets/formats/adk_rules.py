"""What an EvalCase must say beyond its shape.

What google-adk refuses is an error. What it takes, and then scores in a way that nobody meant, is a
warning: to `tool_trajectory_avg_score`, expected arguments that are left out are not `{}`.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.datasets.shape import member
from carob.schema import Json, Problem
from carob.text.spelling import meant

_PERSONAS = ("EXPERT", "NOVICE", "EVALUATOR")
_KINDS_OF_CASE = ("conversation", "conversation_scenario")


def check_case(item: Json) -> Iterator[Problem]:
    """Everything that is wrong with a case beyond its shape."""
    if not isinstance(item, dict):
        return
    found = [member(item, name) for name in _KINDS_OF_CASE]
    stated = [key for key, value in found if value is not None]
    if len(stated) != 1:
        yield Problem(
            where="$",
            message=f"found {' and '.join(stated) or 'neither'}, "
            "expected exactly one of conversation and conversation_scenario",
            hint="remove one of them" if stated else "add `conversation`, a list of turns",
        )
    (key, conversation), (scenario_key, scenario) = found
    if conversation == []:
        yield Problem(
            where=f"$.{key}", message="no turns", hint="add at least one", severity="warning"
        )
    for index, turn in enumerate(conversation if isinstance(conversation, list) else []):
        yield from _check_turn(turn, f"$.{key}[{index}]")
    yield from _check_persona(scenario, f"$.{scenario_key}")


def _check_persona(scenario: Json, path: str) -> Iterator[Problem]:
    key, persona = member(scenario, "user_persona")
    if isinstance(persona, str) and persona not in _PERSONAS:
        yield Problem(
            where=f"{path}.{key}",
            message=f"found {persona!r}, expected {', '.join(_PERSONAS)} or a persona in full",
            hint=meant(persona, _PERSONAS),
        )


def _check_turn(turn: Json, path: str) -> Iterator[Problem]:
    key, data = member(turn, "intermediate_data")
    path = f"{path}.{key}"
    if not isinstance(data, dict):
        return
    events_key, events = member(data, "invocation_events")
    if events_key in data:
        others = [name for name in data if name != events_key]
        if others:
            yield Problem(
                where=path,
                message=f"found {events_key} and {', '.join(others)}, expected one or the other",
                hint="events hold the tool calls already",
            )
        yield from _check_calls(list(_in_events(events, f"{path}.{events_key}")))
    else:
        yield from _check_calls(list(_in_lists(data, path)))


_Call = tuple[str, str, Json]
"""`call` or `response`, where it is, and what it says."""


def _in_lists(data: Json, path: str) -> Iterator[_Call]:
    for name, what in (("tool_uses", "call"), ("tool_responses", "response")):
        key, found = member(data, name)
        for index, value in enumerate(found if isinstance(found, list) else []):
            yield what, f"{path}.{key}[{index}]", value


def _in_events(events: Json, path: str) -> Iterator[_Call]:
    for number, event in enumerate(events if isinstance(events, list) else []):
        content_key, content = member(event, "content")
        parts_key, parts = member(content, "parts")
        for index, part in enumerate(parts if isinstance(parts, list) else []):
            place = f"{path}[{number}].{content_key}.{parts_key}[{index}]"
            for name, what in (("function_call", "call"), ("function_response", "response")):
                key, found = member(part, name)
                if found is not None:
                    yield what, f"{place}.{key}", found


def _check_calls(said: list[_Call]) -> Iterator[Problem]:
    calls = [(path, value) for what, path, value in said if what == "call"]
    responses = [(path, value) for what, path, value in said if what == "response"]
    for path, call in calls:
        yield from _check_call(call, path)
    yield from _check_pairs(calls, responses)


def _check_call(call: Json, path: str) -> Iterator[Problem]:
    if not isinstance(call, dict):
        return
    if not call.get("name"):
        yield Problem(
            where=path,
            message="a call without a name",
            hint="add 'name': the tool's name",
            severity="warning",
        )
    if call.get("args") is None:
        yield Problem(
            where=path,
            message="a call without 'args', which for google-adk never equals a recorded one",
            hint='write "args": {} for a call without arguments',
            severity="warning",
        )


def _check_pairs(
    calls: list[tuple[str, Json]], responses: list[tuple[str, Json]]
) -> Iterator[Problem]:
    """Calls and responses belong together by their ids."""
    answered = {_id(response) for _, response in responses}
    called: set[str | None] = set()
    for path, call in calls:
        name = _id(call)
        if name is not None and name in called:
            yield Problem(
                where=path,
                message=f"the call id {name!r} is there twice",
                hint="give each call an id of its own",
                severity="warning",
            )
        called.add(name)
        if name is not None and responses and name not in answered:
            message = f"the call {name!r} has no response"
            yield Problem(where=path, message=message, severity="note")
    for path, response in responses:
        name = _id(response)
        if name is not None and name not in called:
            yield Problem(
                where=path,
                message=f"a response to {name!r}, and no call has this id",
                hint=meant(name, filter(None, called)) or "use the id of the call that it answers",
                severity="warning",
            )


def _id(call: Json) -> str | None:
    found = call.get("id") if isinstance(call, dict) else None
    return found if isinstance(found, str) else None
