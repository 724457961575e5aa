"""The text of a case in an editor: what it says, and what is wrong with it at which line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from carob.datasets.locate import find_lines
from carob.errors import InputError
from carob.schema import Case, Problem, ToolCall, Turn
from carob.schema.base import prepare_type

_BYTE = re.compile(r"\(byte (\d+)\)")
_PATH = re.compile(r" - at `(.+)`$")
_decoder = msgspec.json.Decoder(prepare_type(Case))
_calls_decoder = msgspec.json.Decoder(prepare_type(tuple[ToolCall, ...]))


class CaseSource(NamedTuple):
    """What the text of a case says; `None` if it is not a case."""

    case: Case | None
    problems: tuple[Problem, ...]


class TurnFields(NamedTuple):
    """A turn as the fields of a form."""

    user: str
    response: str
    calls: str
    """The expected tool calls as JSON; empty states nothing."""


def format_case(case: Case) -> str:
    """Return a case as the text that people edit."""
    document = msgspec.structs.replace(case, origin=None, recorded=None)
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def read_case(text: str) -> CaseSource:
    """Read the text of a case, and check it: is it a case, does it say what the user says, does it
    contain personal data or secrets."""
    try:
        data = text.encode()
        case = _decoder.decode(data)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        return CaseSource(None, (_parse_problem(text, str(error)),))
    return CaseSource(case, tuple(_case_problems(case, data)))


def edit_fields(
    case: Case, turns: Sequence[TurnFields], *, tags: Sequence[str], context: str | None
) -> Case:
    """Return a case with what the fields of a form say; what has no field stays as it is."""
    old = [*case.turns, *([Turn()] * (len(turns) - len(case.turns)))]
    edited = tuple(_edit_turn(turn, fields) for turn, fields in zip(old, turns, strict=False))
    return msgspec.structs.replace(case, turns=edited, tags=tuple(tags), context=context)


def _edit_turn(turn: Turn, fields: TurnFields) -> Turn:
    """An empty field states nothing."""
    calls = _edit_calls(turn.tool_calls or (), fields.calls)
    return msgspec.structs.replace(
        turn, user=fields.user or None, response=fields.response or None, tool_calls=calls
    )


def _edit_calls(known: Sequence[ToolCall], text: str) -> tuple[ToolCall, ...] | None:
    if not text.strip():
        return None
    try:
        calls = _calls_decoder.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        hint = 'as in [{"name": "find_order", "args": {"id": 7}}]'
        raise InputError(f"tool calls cannot be read: {error}", hint=hint) from error
    # A form shows name and arguments; why a call is expected must not get lost.
    old = [*known, *([None] * len(calls))]
    return tuple(
        msgspec.structs.replace(before, args=call.args)
        if before is not None and before.name == call.name
        else call
        for before, call in zip(old, calls, strict=False)
    )


def _parse_problem(text: str, message: str) -> Problem:
    data = text.encode(errors="replace")
    where = "line 1"
    if "truncated" in message:
        last = data.count(b"\n") + 1
        hint = "look for a missing quote or bracket"
        return Problem(where=f"line {last}", message="the text ends too early", hint=hint)
    if place := _BYTE.search(message):
        line = data.count(b"\n", 0, int(place[1])) + 1
        where = f"line {line}"
    elif place := _PATH.search(message):
        path = re.sub(r"\[\.\.\.\]", "", place[1])
        where = f"line {find_lines(data, [path]).get(path, 1)}"
    short = _BYTE.sub("", _PATH.sub("", message)).strip()
    return Problem(where=where, message=short, hint=_hint(short))


def _hint(message: str) -> str | None:
    if "malformed" in message:
        return "look for a missing comma, quote or bracket just before"
    if "unknown field" in message:
        return "fields: id, turns, tags, context, tool_calls, metadata, …"
    return None


def _case_problems(case: Case, data: bytes) -> Iterator[Problem]:
    # Late: what it looks for is large, and a server may never edit a case.
    from carob.datasets.lint.privacy import find_personal_data

    if not case.id.strip():
        yield Problem(where="line 1", message="the id is empty")
    if not case.turns and case.scenario is None:
        yield Problem(where="line 1", message="the case has no turns", severity="warning")
    silent = [n for n, turn in enumerate(case.turns) if not turn.user]
    lines = find_lines(data, [f"$.turns[{n}]" for n in silent])
    for number in silent:
        where = f"line {lines.get(f'$.turns[{number}]', 1)}"
        yield Problem(
            where=where, message=f"turn {number + 1} has no user message", severity="warning"
        )
    for problem in find_personal_data(msgspec.json.decode(data), ""):
        path = _json_path(problem.where)
        where = f"line {find_lines(data, [path]).get(path, 1)}"
        yield msgspec.structs.replace(problem, where=where)


def _json_path(where: str) -> str:
    """Turn the place of a finding, such as `turns.0.user`, into a path in the document."""
    parts = where.removeprefix(", ").split(".")
    return "$" + "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)
