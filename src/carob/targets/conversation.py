"""Hold one conversation with a target, and record it as a trace."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from carob.lazy import load_object
from carob.schema import Case, Failed, Json, Trace, Turn
from carob.targets.function import describe_error
from carob.targets.mocks import MissingMockError, find_missed
from carob.targets.target import (
    Attempt,
    CaseTarget,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)

_CLOSING = 30.0
"""Seconds that closing a session may take."""


class User(Protocol):
    """Decides what the user says."""

    end_reason: str | None
    """Why a simulated conversation ended. Fixed turns have no reason."""

    async def next_message(self, turns: Sequence[Turn]) -> str | None:
        """Return the next message, or `None` at the end. Raises `TargetError`."""
        ...


class ScriptedUser:
    """Says the golden messages."""

    end_reason: str | None = None

    def __init__(self, case: Case) -> None:
        self._turns = case.turns
        if not case.turns:
            raise TargetError("case", "the case has no turns and no scenario", reached=False)

    async def next_message(self, turns: Sequence[Turn]) -> str | None:
        """Return the message of the next golden turn."""
        if len(turns) == len(self._turns):
            return None
        message = self._turns[len(turns)].user
        if message is None:
            text = f"turn {len(turns) + 1} has no user message"
            raise TargetError("case", text, reached=False)
        return message


@dataclass(frozen=True, kw_only=True)
class TimeLimits:
    """Seconds that a turn and a conversation may take."""

    turn: float = 120.0
    case: float = 600.0


@dataclass(kw_only=True)
class _Progress:
    """The turns recorded so far."""

    turns: list[Turn] = field(default_factory=list[Turn])
    pending: Turn | None = None
    """The turn that was sent and not answered yet."""
    conversation: Conversation | None = None
    document: Trace | None = None
    turn_limit: asyncio.Timeout | None = None

    def limit_turn(self, seconds: float) -> asyncio.Timeout:
        """Return a block that takes no longer than a turn may."""
        self.turn_limit = asyncio.timeout(seconds)
        return self.turn_limit


@dataclass(frozen=True, kw_only=True)
class RecordedAttempt:
    """The trace of an attempt. One that broke off may be repeated."""

    trace: Trace
    error: TargetError | None = None
    answered: int = 0
    """Turns that the agent answered before it broke off."""
    trace_ids: tuple[str, ...] = ()
    """The trace id of each turn."""

    @property
    def untouched(self) -> bool:
        """Whether the agent cannot have received anything, so that a retry is safe."""
        return self.error is not None and not self.error.reached and self.answered == 0


async def hold_conversation(
    target: Target, case: Case, attempt: Attempt, user: User, limits: TimeLimits
) -> RecordedAttempt:
    """Hold a conversation. Whatever goes wrong becomes the failure of the trace."""
    progress, error = _Progress(), None
    case_limit = asyncio.timeout(limits.case)
    try:
        async with case_limit:
            if isinstance(target, CaseTarget):
                progress.document = await target.answer_case(case, attempt)
            else:
                await _exchange(target, case, attempt, user, limits, progress)
    except asyncio.CancelledError as failure:
        if _is_cancelled():
            raise
        error = TargetError("agent", describe_error(failure))  # raised by the agent itself
    except TargetError as failure:
        error = failure
    except MissingMockError as failure:
        error = TargetError("mock", str(failure))
    except Exception as failure:  # noqa: BLE001 - whatever an agent raises becomes data
        error = _limit_error(limits, case_limit, progress.turn_limit)
        error = error or TargetError("agent", describe_error(failure))
    await _close(progress)
    error = _miss_error(attempt) or error  # without its tool, an agent often fails as well
    trace = _trace(case, attempt, user, progress, error, target)
    missed = None if error else find_missed(trace.turns)
    if missed:
        error = TargetError("mock", missed)
        trace = msgspec.structs.replace(trace, failure=Failed(kind=error.kind, message=missed))
    return RecordedAttempt(
        trace=trace,
        error=error,
        answered=len(progress.turns),
        trace_ids=tuple(attempt.trace_id(number) for number in range(len(trace.turns))),
    )


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _limit_error(
    limits: TimeLimits, case_limit: asyncio.Timeout, turn_limit: asyncio.Timeout | None
) -> TargetError | None:
    """The error if a limit was reached. An agent may raise a `TimeoutError` of its own."""
    if case_limit.expired():
        return TargetError("timeout", f"the conversation took longer than {limits.case:g} s")
    if turn_limit and turn_limit.expired():
        return TargetError("timeout", f"a turn took longer than {limits.turn:g} s")
    return None


async def _exchange(
    target: Target,
    case: Case,
    attempt: Attempt,
    user: User,
    limits: TimeLimits,
    progress: _Progress,
) -> None:
    message = await user.next_message(progress.turns)
    if message is None:
        return
    async with progress.limit_turn(limits.turn):
        progress.conversation = await target.open(case, attempt)
    while message is not None:
        number = len(progress.turns)
        context = TurnContext(
            index=number, traceparent=attempt.traceparent(number), deadline=limits.turn
        )
        started = time.time_ns()
        progress.pending = Turn(user=message, start=started)
        async with progress.limit_turn(limits.turn):
            with trace_context(context.traceparent):
                turn = await progress.conversation.say(message, context)
        progress.turns.append(_complete(turn, message, started))
        progress.pending = None
        message = await user.next_message(progress.turns)


def _complete(turn: Turn, message: str, started: int) -> Turn:
    """Add what the target did not record itself."""
    ended = time.time_ns()
    return msgspec.structs.replace(
        turn,
        user=message if turn.user is None else turn.user,
        start=started if turn.start is None else turn.start,
        end=ended if turn.end is None else turn.end,
    )


async def _close(progress: _Progress) -> None:
    """Close the session, also one that broke off: it may have a record of what happened."""
    if progress.conversation is None:
        return
    with suppress(Exception):
        async with asyncio.timeout(_CLOSING):
            progress.document = await progress.conversation.close()


def _miss_error(attempt: Attempt) -> TargetError | None:
    """A tool call without a recorded result decides nothing about the agent: no pass, and no 0."""
    if attempt.mocks is None or not attempt.mocks.missed:
        return None
    return TargetError("mock", "; ".join(dict.fromkeys(attempt.mocks.missed)))


def _trace(
    case: Case,
    attempt: Attempt,
    user: User,
    progress: _Progress,
    error: TargetError | None,
    target: Target,
) -> Trace:
    """Join the replies and the record of the session, which is believed first."""
    replies = [*progress.turns, *([progress.pending] if progress.pending else [])]
    document = progress.document or Trace(id="")
    turns = _join_turns(replies, document.turns)
    if attempt.mocks is not None:
        turns = attempt.mocks.annotate(turns)
    sources = {"turns": "session document" if document.turns else "replies"}
    if document.state is not None:
        sources["state"] = "session document" if document.turns else "replies"
    attributes: dict[str, Json] = {**document.attributes, "carob.target": target.name}
    if user.end_reason:
        attributes["carob.simulator.end_reason"] = user.end_reason
    return msgspec.structs.replace(
        document,
        id=trace_id(attempt),
        case=case.id,
        turns=turns,
        mapper=document.mapper or "live@1",
        sources={**sources, **document.sources},
        attributes=attributes,
        failure=Failed(kind=error.kind, message=str(error)) if error else None,
    )


def trace_id(attempt: Attempt) -> str:
    """Return the id of the trace of an attempt."""
    return f"{attempt.case}#{attempt.number}"


def _join_turns(replies: Sequence[Turn], recorded: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the recorded turns with what only the replies have. A record with another number of
    turns is not of this conversation as it was held, so the replies are believed."""
    if len(recorded) != len(replies):
        return tuple(replies) if replies else tuple(recorded)
    return tuple(join_turn(reply, turn) for reply, turn in zip(replies, recorded, strict=True))


def join_turn(reply: Turn, recorded: Turn) -> Turn:
    """Return a recorded turn with what only the reply has."""
    changes = {
        name: getattr(reply, name)
        for name in Turn.__struct_fields__
        if getattr(recorded, name) in (None, ()) and getattr(reply, name) not in (None, ())
    }
    if recorded.end is None or recorded.end == recorded.start:
        changes["start"], changes["end"] = reply.start, reply.end  # the client measured it
    return msgspec.structs.replace(recorded, **changes) if changes else recorded


@contextmanager
def trace_context(traceparent: str) -> Generator[None]:
    """Make the spans of the block children of a trace context, if the program uses
    OpenTelemetry."""
    if "opentelemetry.trace" not in sys.modules:
        yield
        return
    context: Any = load_object("opentelemetry:context")
    extract: Any = load_object(
        "opentelemetry.trace.propagation.tracecontext:TraceContextTextMapPropagator"
    )().extract
    token = context.attach(extract({"traceparent": traceparent}))
    try:
        yield
    finally:
        context.detach(token)
