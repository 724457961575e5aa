"""Conversations with scripted targets: retries, limits, and what is never sent twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from carob.schema import Case, Json, Trace, Turn
from carob.targets.conversation import TimeLimits
from carob.targets.live import LiveLimits, LiveRecorder, PlannedAttempt
from carob.targets.mocks import ToolMocks
from carob.targets.target import Attempt, Capability, Conversation, TargetError, TurnContext

CASE = Case(id="hose", turns=(Turn(user="one"), Turn(user="two")))


@dataclass(kw_only=True)
class Scripted:
    """A target that breaks off where its script says so."""

    errors: dict[str, list[Exception]] = field(default_factory=dict[str, list[Exception]])
    """By message: what is raised before it is answered, once each. `open` breaks the opening."""
    delay: float = 0.0
    name: str = "scripted:agent"
    params: dict[str, Json] = field(default_factory=dict[str, Json])
    can: frozenset[Capability] = frozenset()
    sent: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Session and message of every message that was received."""
    busy: int = 0
    most: int = 0
    closed: int = 0

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        self.raise_next("open")
        return _Scripted(self, attempt.session)

    async def close(self) -> None:
        self.closed += 1

    def raise_next(self, message: str) -> None:
        if errors := self.errors.get(message):
            raise errors.pop(0)


class _Scripted:
    def __init__(self, target: Scripted, session: str) -> None:
        self._target, self._session = target, session

    async def say(self, message: str, turn: TurnContext) -> Turn:
        target = self._target
        target.sent.append((self._session, message))
        target.busy += 1
        target.most = max(target.most, target.busy)
        try:
            await asyncio.sleep(target.delay)
            target.raise_next(message)
        finally:
            target.busy -= 1
        return Turn(response=message.upper())

    async def close(self) -> Trace | None:
        return None


def record(
    target: Scripted, cases: Iterable[Case] = (CASE,), *, mocks: bool = False, **limits: object
) -> tuple[dict[str, Trace], LiveRecorder]:
    traces: dict[str, Trace] = {}

    async def finished(planned: PlannedAttempt, trace: Trace) -> None:
        traces[planned.case.id] = trace

    times = limits.pop("times", TimeLimits())
    recorder = LiveRecorder(
        target=target,
        limits=LiveLimits(times=times, **limits),  # pyright: ignore[reportArgumentType] - the caller's limits
        finished=finished,
    )
    attempts = [
        PlannedAttempt(
            number=number,
            case=case,
            attempt=Attempt(run="r", case=case.id),
            mocks=(lambda: ToolMocks(results=())) if mocks else None,
        )
        for number, case in enumerate(cases)
    ]
    asyncio.run(recorder.record(attempts))
    return traces, recorder


def lost(*, reached: bool = True) -> TargetError:
    return TargetError("connection", "reset", reached=reached, retry_after=0.0)


def test_turns_are_said_in_order_and_recorded():
    target = Scripted()
    traces, _ = record(target)
    assert [message for _, message in target.sent] == ["one", "two"]
    trace = traces["hose"]
    assert [(turn.user, turn.response) for turn in trace.turns] == [("one", "ONE"), ("two", "TWO")]
    assert trace.failure is None
    assert trace.duration_ms is not None
    assert target.closed == 1


def test_message_that_never_reached_the_agent_is_sent_again_in_a_new_session():
    target = Scripted(errors={"open": [lost(reached=False)], "one": [lost(reached=False)]})
    traces, _ = record(target)
    assert traces["hose"].failure is None
    sessions = [session for session, message in target.sent if message == "one"]
    assert len(sessions) == len(set(sessions)) == 2


def test_message_that_may_have_reached_the_agent_is_not_sent_again():
    target = Scripted(errors={"one": [lost()]})
    traces, _ = record(target)
    assert [message for _, message in target.sent] == ["one"]
    failure = traces["hose"].failure
    assert failure
    assert (failure.kind, failure.message) == ("connection", "reset")


def test_refused_second_turn_is_not_retried_because_the_first_ran_tools():
    target = Scripted(errors={"two": [lost(reached=False)]})
    traces, _ = record(target)
    assert traces["hose"].failure
    assert [message for _, message in target.sent] == ["one", "two"]
    assert [turn.response for turn in traces["hose"].turns] == ["ONE", None]


@pytest.mark.parametrize("allowed", [{"retry": True}, {"mocks": True}])
def test_conversation_is_held_again_from_the_start_where_tools_may_run_twice(
    allowed: dict[str, bool],
):
    target = Scripted(errors={"two": [lost()]})
    traces, _ = record(target, **allowed)  # pyright: ignore[reportArgumentType] - a flag
    assert traces["hose"].failure is None
    assert [message for _, message in target.sent] == ["one", "two", "one", "two"]
    assert target.sent[0][0] != target.sent[2][0]


def test_retries_end():
    target = Scripted(errors={"open": [lost(reached=False) for _ in range(9)]})
    traces, _ = record(target)
    assert traces["hose"].failure
    assert len(target.errors["open"]) == 5


def test_error_that_is_not_transient_is_not_retried():
    target = Scripted(errors={"one": [TargetError("agent", "broken")]})
    traces, _ = record(target, retry=True)
    assert traces["hose"].failure
    assert [message for _, message in target.sent] == ["one"]


def test_conversations_are_limited_in_number():
    target = Scripted(delay=0.02)
    cases = [Case(id=f"{number}", turns=CASE.turns) for number in range(12)]
    traces, _ = record(target, cases, concurrency=3)
    assert len(traces) == 12
    assert target.most == 3


def test_time_limit_of_a_conversation_leaves_what_was_said():
    target = Scripted(delay=0.15)
    traces, _ = record(target, times=TimeLimits(turn=5, case=0.2))
    failure = traces["hose"].failure
    assert failure
    assert failure.message == "the conversation took longer than 0.2 s"
    assert [turn.response for turn in traces["hose"].turns] == ["ONE", None]


def test_time_limit_of_the_run_keeps_finished_conversations():
    target = Scripted(delay=0.05)
    cases = [Case(id=f"{number}", turns=CASE.turns[:1]) for number in range(100)]
    traces, recorder = record(target, cases, concurrency=2, max_time=0.4)
    assert recorder.stopped == "the time limit of 0.4 s was reached"
    assert 0 < len(traces) < 100
    assert target.closed == 1


def test_ids_of_turns_are_derived_and_different():
    attempt, again = Attempt(run="r", case="hose"), Attempt(run="r", case="hose")
    assert attempt.traceparent(0) == again.traceparent(0)
    assert attempt.trace_id(0) != attempt.trace_id(1)
    version, trace, span, flags = attempt.traceparent(0).split("-")
    assert (version, len(trace), len(span), flags) == ("00", 32, 16, "01")
    assert Attempt(run="r", case="hose", number=2).trace_id(0) != trace
