"""What an agent answered, in the form in which a test has it at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Trace, Turn
from carob.text.spelling import meant

Reply: TypeAlias = str | Mapping[str, Any]
"""What the agent did in one turn: its response, or a dict with fields of a `Turn`."""
Answer: TypeAlias = Trace | Reply | Sequence[Reply]
"""What the agent did in a case: a trace, or a reply, or a reply for each turn."""

_FIELDS = (*Turn.__struct_fields__, "state")


def as_trace(case: Case, answer: Answer, id: str) -> Trace:
    """The trace of an answer. What the user said is taken from the case if it is not told."""
    if isinstance(answer, Trace):
        return answer
    replies = [_fields(one) for one in _replies(answer)]
    states = [reply.pop("state") for reply in replies if "state" in reply]
    said = [turn.user for turn in case.turns] + [None] * len(replies)
    turns = [{"user": user, **reply} for user, reply in zip(said, replies, strict=False)]
    try:
        made = {"id": id, "case": case.id, "turns": turns, "state": states[-1] if states else None}
        return msgspec.convert(made, Trace)
    except msgspec.ValidationError as error:
        raise UsageError(f"the answer to {case.id!r}: {error}") from error


def _replies(answer: Reply | Sequence[Reply]) -> Sequence[Reply]:
    if isinstance(answer, str | Mapping):
        return [answer]
    if not isinstance(answer, list | tuple) or not answer:
        raise _unexpected(answer)
    return answer


def _fields(reply: Reply) -> dict[str, Any]:
    """A misspelt field would be an answer that nobody scores."""
    if isinstance(reply, str):
        return {"response": reply}
    if not isinstance(reply, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - agents answer anything
        raise _unexpected(reply)
    for name in reply:
        if name not in _FIELDS:
            hint = meant(str(name), _FIELDS) or f"known: {', '.join(_FIELDS)}"
            raise UsageError(f"an answer has no field {name!r}", hint=hint)
    return dict(reply)


def _unexpected(answer: object) -> UsageError:
    return UsageError(
        f"found {answer!r:.80} as an answer",
        hint="expected a Trace, a text, a dict such as {'response': …, 'tool_calls': […]}, or a "
        "list of them, one for each turn",
    )
