"""K201 and K203: the same input again, with the same expectation or with another one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import blake2b
from typing import cast

import msgspec

from carob.datasets.lint.check import Found, Item, Place
from carob.schema import Case, Dataset, Json, ToolCall

_encode = msgspec.json.Encoder(order="deterministic").encode
_GAP = re.compile(r"[\W_]+")
_OTHER = {
    "response": "another answer is expected",
    "tool_calls": "other tool calls are expected",
    "trajectory": "another trajectory is expected",
    "state": "another state is expected",
    "contains": "other texts in the answer are expected",
    "contract": "another contract is expected",
}


class Duplicates:
    """Two cases contradict each other if both state the same thing and state it differently; what
    only one of them states is no contradiction."""

    rules = ("K201", "K203")

    def __init__(self) -> None:
        self._stated: dict[bytes, dict[str, tuple[bytes, Place]]] = {}
        self._seen: dict[bytes, Place] = {}
        self._recorded: set[str] = set()

    def see(self, item: Item) -> Iterator[Found]:
        case, place = item.case, item.place
        if self._is_recorded_again(case) or not _says_something(case):
            return
        key, expected = _mark(_input(case)), _expectation(case)
        marks = {name: _mark(value) for name, value in expected.items()}
        first = self._seen.setdefault(
            _mark([key.hex(), [mark.hex() for mark in marks.values()]]), place
        )
        if first is not place:
            yield Found("K201", place, f"the same as {_the(first)}", "keep one of them")
            return
        stated = self._stated.setdefault(key, {})
        for name, mark in marks.items():
            other, earlier = stated.setdefault(name, (mark, place))
            if other != mark:
                message = f"the input is that of {_the(earlier)}, but {_OTHER[name]}"
                hint = "correct one of them, or say in the context what makes the difference"
                yield Found("K203", place, message, hint)
                return

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        yield from ()

    def _is_recorded_again(self, case: Case) -> bool:
        """Several recordings of one case may stand in one file."""
        if case.recording is None:
            return False
        again = case.id in self._recorded
        self._recorded.add(case.id)
        return again


def _the(place: Place) -> str:
    return f"{place} on line {place.line}" if place.line else str(place)


def _says_something(case: Case) -> bool:
    return bool(case.scenario or any(turn.user for turn in case.turns))


def input_text(case: Case) -> str:
    """What the user says, all of it."""
    if case.scenario:
        return f"{case.scenario.prompt}\n{case.scenario.plan}"
    return "\n".join(turn.user or "" for turn in case.turns)


def _input(case: Case) -> Json:
    """All that decides what the right answer is."""
    session = case.session
    return cast(
        "Json",
        msgspec.to_builtins(
            [
                [_plain(turn.user or "") for turn in case.turns],
                case.context,
                case.relevant_context,
                case.scenario,
                session and [session.app, session.user, session.state],
                case.agents,
                case.tools,
                case.goal,
                case.metadata.get("phase"),
            ]
        ),
    )


def _expectation(case: Case) -> dict[str, Json]:
    """What is stated, by the names above."""
    answers: Json = [_plain(turn.response or "") for turn in case.turns]
    calls = [turn.tool_calls for turn in case.turns if turn.tool_calls is not None]
    if case.tool_calls is not None:
        calls.append(case.tool_calls)
    stated: dict[str, object] = {
        "response": answers if any(answers) else None,
        "tool_calls": [_called(call) for some in calls for call in some] if calls else None,
        "trajectory": case.trajectory,
        "state": case.state,
        "contains": case.contains,
        "contract": case.contract,
    }
    built = cast("dict[str, Json]", msgspec.to_builtins(stated))
    return {name: value for name, value in built.items() if value is not None}


def _called(call: ToolCall) -> list[object]:
    return [call.name, call.args]


def _plain(text: str) -> str:
    return _GAP.sub(" ", text.casefold()).strip() or text


def _mark(value: Json) -> bytes:
    return blake2b(_encode(value), digest_size=16).digest()
