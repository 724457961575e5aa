"""What Python code answers for an agent: a text, a dict of turn fields, or a whole trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import msgspec

from carob.errors import UsageError
from carob.schema import Case, Json, ModelCall, Trace, Turn, Usage
from carob.schema.base import prepare_type
from carob.text.spelling import did_you_mean

Reply: TypeAlias = str | Mapping[str, Any]
"""What the agent did in one turn: its response, or a dict with the fields of a `Turn`."""
Answer: TypeAlias = Trace | Reply | Sequence[Reply]
"""What the agent did in a case: a trace, a reply, or a reply for each turn."""
_REPLY_FIELDS = (*Turn.__struct_fields__, "state", "usage", "model")


class ReplyTurn(NamedTuple):
    """A reply as a turn, and the state after it if the reply states one."""

    turn: Turn
    state: dict[str, Json] | None


def as_turn(reply: Any, where: str, turn: int = 0) -> ReplyTurn:
    """Return a reply as a turn. Raises `UsageError` for anything that is not a reply."""
    fields = _reply_fields(reply)
    state = fields.pop("state", None)
    if state is not None and not isinstance(state, dict):
        raise UsageError(f"invalid answer to {where!r}: the state is not a dict")
    try:
        converted = msgspec.convert(fields, prepare_type(Turn))
    except msgspec.ValidationError as error:
        place = str(error).replace("`$", f"`$.turns[{turn}]", 1)
        raise UsageError(f"invalid answer to {where!r}: {place}") from error
    return ReplyTurn(converted, cast("dict[str, Json] | None", state))


def as_trace(case: Case, answer: Answer, id: str) -> Trace:
    """Return an answer as a trace. Missing user messages are taken from the case."""
    if isinstance(answer, Trace):
        return answer
    replies = [as_turn(reply, case.id, turn) for turn, reply in enumerate(_replies(answer))]
    states = [reply.state for reply in replies if reply.state is not None]
    users = [turn.user for turn in case.turns] + [None] * len(replies)
    turns = [
        reply.turn
        if reply.turn.user is not None
        else msgspec.structs.replace(reply.turn, user=user)
        for user, reply in zip(users, replies, strict=False)
    ]
    return Trace(id=id, case=case.id, turns=tuple(turns), state=states[-1] if states else None)


def _replies(answer: Reply | Sequence[Reply]) -> Sequence[Reply]:
    if isinstance(answer, str | Mapping):
        return [answer]
    if not isinstance(answer, list | tuple) or not answer:
        raise _invalid_answer(answer)
    return answer


def _reply_fields(reply: Any) -> dict[str, Any]:
    """Return the fields of a reply. A misspelt field is an error: it would go unscored."""
    if isinstance(reply, str):
        return {"response": reply}
    if not isinstance(reply, Mapping):
        raise _invalid_answer(reply)
    fields = {str(name): value for name, value in cast("Mapping[Any, Any]", reply).items()}
    for name in fields:
        if name not in _REPLY_FIELDS:
            hint = did_you_mean(name, _REPLY_FIELDS)
            hint = hint or f"expected one of: {', '.join(_REPLY_FIELDS)}"
            raise UsageError(f"unknown field {name!r} in an answer", hint=hint)
    model, usage = fields.pop("model", None), fields.pop("usage", None)
    if model is not None or usage is not None:
        fields["model_calls"] = [*fields.get("model_calls", ()), _model_call(model, usage)]
    return fields


def _model_call(model: object, usage: object) -> ModelCall:
    try:
        tokens = msgspec.convert(usage or {}, prepare_type(Usage))
    except msgspec.ValidationError as error:
        raise UsageError(f"invalid usage in an answer: {error}") from error
    if model is not None and not isinstance(model, str):
        raise UsageError(f"invalid model in an answer: {model!r:.80}")
    return ModelCall(model=model, usage=tokens)


def _invalid_answer(answer: object) -> UsageError:
    return UsageError(
        f"invalid answer {answer!r:.80}",
        hint="expected a Trace, a string, a dict such as {'response': …, 'tool_calls': […]}, or a "
        "list of them, one for each turn",
    )
