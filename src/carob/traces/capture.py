"""Recordings become golden cases: what the agent did is what is expected of it from now on.

Everything follows from the recordings, the dates too, so that the same ones give the same cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from carob.schema import Captured, Case, Json, Loss, Problem, ToolCall, Trace, Turn, content_id
from carob.traces.conventions.hints import recording_hint
from carob.traces.simulation_row import tabled

Status = Literal["ok", "error"]
_SHOWN = 10


class Wanted(NamedTuple):
    """Which recordings are to become cases; `None` is any."""

    agent: str | None = None
    session: str | None = None
    since: int | None = None
    """Unix time in nanoseconds; what has no time is neither since nor until."""
    until: int | None = None
    status: Status | None = None

    def takes(self, trace: Trace) -> bool:
        """Whether a recording is one of them; one that names no agents may be any agent's."""
        return (
            (self.agent is None or not trace.agents or self.agent in trace.agents)
            and (self.session is None or self.session in {trace.id, *_ids(trace)})
            and (self.status is None or self.status == _status(trace))
            and self._in_time(trace)
        )

    def _in_time(self, trace: Trace) -> bool:
        if self.since is None and self.until is None:
            return True
        start = _start(trace)
        if start is None:
            return False
        return (self.since is None or start >= self.since) and (
            self.until is None or start < self.until
        )


class Capture:
    """Takes recordings in, one after the other, and makes cases of them."""

    def __init__(self, wanted: Wanted, *, table: bool = False) -> None:
        self.wanted = wanted
        self.table = table
        self.cases: list[Case] = []
        self.left_out = 0
        self.duplicates: list[str] = []
        self.problems: list[Problem] = []
        self._agents: dict[str, None] = {}
        """Whose recordings were left out."""
        self._ids: dict[str, int] = {}
        self._seen: dict[bytes, str] = {}

    def add(self, traces: Iterable[Trace]) -> None:
        """Take recordings in."""
        for trace in traces:
            if not self.wanted.takes(trace):
                self._leave_out(trace)
            elif any(turn.user is None for turn in trace.turns) or not trace.turns:
                self.problems.append(_unheard(trace))
            else:
                self._case(trace)

    def _leave_out(self, trace: Trace) -> None:
        self.left_out += 1
        self._agents |= dict.fromkeys(trace.agents)

    def _case(self, trace: Trace) -> None:
        case = (
            in_table(trace, self.wanted.agent) if self.table else golden(trace, self.wanted.agent)
        )
        content = msgspec.json.encode([*map(_said, trace.turns), case.state])
        same = self._seen.setdefault(content, trace.id)
        if same != trace.id:
            self.duplicates.append(trace.id)
            return
        number = self._ids[case.id] = self._ids.get(case.id, 0) + 1
        if number > 1:
            case = msgspec.structs.replace(case, id=f"{case.id}-{number}")
        self.cases.append(case)

    def add_cases(self, cases: Iterable[Case]) -> None:
        """Take in cases that were logged, with what was recorded of them."""
        for case in cases:
            recording = case.recording
            if recording is not None and not self.wanted.takes(recording):
                self._leave_out(recording)
                continue
            agent = self.wanted.agent
            if agent and not case.agents:
                case = msgspec.structs.replace(case, agents=(agent,))
            if self.table and recording is not None:
                case = msgspec.structs.replace(
                    case, recording=tabled(recording, case.id), origin=None
                )
            self.cases.append(case)

    def why(self) -> str | None:
        """Why there is no case, for a message."""
        if self.left_out:
            agents = ", ".join([*self._agents][:_SHOWN]) if self.wanted.agent else ""
            whose = f"; recorded agents: {agents}" if agents else ""
            return f"the filters left out {_recordings(self.left_out)}{whose}"
        if self.problems:
            return self.problems[-1].hint or self.problems[-1].message
        return None

    def captured(self, form: str, losses: tuple[Loss, ...] = ()) -> Captured:
        """What became of the recordings."""
        return Captured(
            format=form,
            cases=len(self.cases),
            left_out=self.left_out,
            duplicates=tuple(self.duplicates),
            problems=tuple(self.problems),
            losses=losses,
        )


def golden(trace: Trace, agent: str | None = None) -> Case:
    """The case that expects what the recording tells."""
    return msgspec.structs.replace(
        _head(trace, agent),
        turns=tuple(map(_expected, trace.turns)),
        trajectory=_trajectory(trace),
        state=trace.state,
    )


def in_table(trace: Trace, agent: str | None = None) -> Case:
    """The case that expects nothing yet, beside the recording: a row of the simulation table."""
    users = tuple(Turn(user=turn.user) for turn in trace.turns)
    case = _head(trace, agent)
    return msgspec.structs.replace(case, turns=users, recording=tabled(trace, case.id))


def _head(trace: Trace, agent: str | None) -> Case:
    agents = trace.agents or ((agent,) if agent else ())
    start = _start(trace)
    return Case(
        id=trace.case or content_id(*(turn.user or "" for turn in trace.turns)),
        agents=agents or None,
        metadata=_lineage(trace, start),
        created_at=_date(start, "seconds") if start else None,
    )


def _lineage(trace: Trace, start: int | None) -> dict[str, Json]:
    ids = _ids(trace)
    found: dict[str, Json | None] = {
        "source": f"{trace.convention} recording" if trace.convention else "recording",
        "trace_id": ids[0] if ids else trace.id,
        "session_id": trace.conversation,
        "file": Path(trace.source).name if trace.source else None,
        "date_added": _date(start, "day") if start else None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _date(start: int, precision: Literal["day", "seconds"]) -> str | None:
    try:
        moment = datetime.fromtimestamp(start // 10**9, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment.date().isoformat() if precision == "day" else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _expected(turn: Turn) -> Turn:
    """What of a recorded turn is to be expected again: no times, no tokens."""
    calls = turn.tool_calls
    return Turn(
        id=turn.id,
        user=turn.user,
        response=turn.response,
        tool_calls=None if calls is None else tuple(map(_expected_call, calls)),
        tool_results=turn.tool_results,
        messages=turn.messages,
        agents=turn.agents,
        app=turn.app,
    )


def _expected_call(call: ToolCall) -> ToolCall:
    return ToolCall(name=call.name, args=call.args, id=call.id, agent=call.agent)


def _trajectory(trace: Trace) -> tuple[str, ...] | None:
    steps: list[str] = []
    for agent in (agent for turn in trace.turns for agent in turn.agents):
        if steps[-1:] != [agent]:
            steps.append(agent)
    return tuple(steps) or None


def _said(turn: Turn) -> list[Json]:
    calls: list[Json] = [[call.name, call.args] for call in turn.tool_calls or ()]
    return [turn.user, turn.response, calls]


def _unheard(trace: Trace) -> Problem:
    return Problem(
        where=f"{trace.source}: {trace.id}" if trace.source else trace.id,
        message="the user's message was not recorded, so it cannot be a case",
        hint=recording_hint(trace.convention or "", "user"),
        severity="warning",
    )


def _ids(trace: Trace) -> list[str]:
    ids = trace.attributes.get("trace_ids")
    return [str(one) for one in ids] if isinstance(ids, list) else []


def _start(trace: Trace) -> int | None:
    return min((turn.start for turn in trace.turns if turn.start is not None), default=None)


def _status(trace: Trace) -> Status:
    return "error" if any(turn.error is not None for turn in trace.turns) else "ok"


def _recordings(number: int) -> str:
    return "the only recording" if number == 1 else f"all {number} recordings"
