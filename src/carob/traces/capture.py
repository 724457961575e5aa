"""Turn traces into golden cases: what the agent did becomes what is expected of it.

Everything is derived from the traces, the dates too, so that the same traces give the same cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from carob.files.digest_table import text_digest
from carob.files.ids import RepeatedIds, make_unique
from carob.files.spool import Spool
from carob.schema import CaptureReport, Case, Json, Loss, Problem, ToolCall, Trace, Turn, content_id
from carob.schema.codec import CASES
from carob.traces.conventions.hints import how_to_record
from carob.traces.simulation_row import add_table_columns

Status = Literal["ok", "error"]
_SHOWN = 10


class TraceFilter(NamedTuple):
    """Which traces become cases; `None` matches any."""

    agent: str | None = None
    session: str | None = None
    since: int | None = None
    """Unix time in nanoseconds; a trace without a time is neither since nor until."""
    until: int | None = None
    status: Status | None = None

    def matches(self, trace: Trace) -> bool:
        """Whether a trace passes; one that names no agents may be any agent's."""
        return (
            (self.agent is None or not trace.agents or self.agent in trace.agents)
            and (self.session is None or self.session in {trace.id, *_ids(trace)})
            and (self.status is None or self.status == _status(trace))
            and self._is_in_period(trace)
        )

    def _is_in_period(self, trace: Trace) -> bool:
        if self.since is None and self.until is None:
            return True
        start = _start(trace)
        if start is None:
            return False
        return (self.since is None or start >= self.since) and (
            self.until is None or start < self.until
        )


class Capture:
    """Collects cases from traces, and counts the traces that do not become cases."""

    def __init__(self, filter_: TraceFilter, *, table: bool = False) -> None:
        self.filter = filter_
        self.table = table
        self._cases = Spool(CASES)
        self.left_out = 0
        self.duplicates: list[str] = []
        self.problems: list[Problem] = []
        self._agents: dict[str, None] = {}
        """The agents of the traces that were left out."""
        self._ids = RepeatedIds()
        self._contents: set[bytes] = set()
        """Digests of what the cases are made of."""

    def add(self, traces: Iterable[Trace]) -> None:
        """Add the cases of some traces."""
        for trace in traces:
            if not self.filter.matches(trace):
                self._leave_out(trace)
            elif any(turn.user is None for turn in trace.turns) or not trace.turns:
                self.problems.append(_missing_user_message(trace))
            else:
                self._add_case(trace)

    def _leave_out(self, trace: Trace) -> None:
        self.left_out += 1
        self._agents |= dict.fromkeys(trace.agents)

    def _add_case(self, trace: Trace) -> None:
        to_case = table_case if self.table else case_from_trace
        case = to_case(trace, self.filter.agent)
        content = msgspec.json.encode([*map(_content, trace.turns), case.state])
        digest = blake2b(content, digest_size=16).digest()
        if digest in self._contents:
            self.duplicates.append(trace.id)
            return
        self._contents.add(digest)
        self._append(case)

    def _append(self, case: Case) -> None:
        self._ids.add(case.id)
        self._cases.append(case)

    def add_cases(self, cases: Iterable[Case]) -> None:
        """Add cases that were logged, with their traces if they have any."""
        for case in cases:
            trace = case.recorded
            if trace is not None and not self.filter.matches(trace):
                self._leave_out(trace)
                continue
            agent = self.filter.agent
            if agent and not case.agents:
                case = msgspec.structs.replace(case, agents=(agent,))
            if self.table and trace is not None:
                row = add_table_columns(trace, case.id)
                case = msgspec.structs.replace(case, recorded=row, origin=None)
            self._append(case)

    def finish(self) -> Sequence[Case]:
        """Return the cases, each with an id of its own. Many of them are in a file."""
        cases, repeated = self._cases.finish(), self._ids.digests()
        if not repeated:
            return cases
        used: dict[str, int] = {}
        numbered = Spool(CASES)
        for case in cases:
            if text_digest(case.id) in repeated:
                case = msgspec.structs.replace(case, id=make_unique(case.id, used))
            numbered.append(case)
        return numbered.finish()

    def explain_empty(self) -> str | None:
        """Why there is no case, for a hint."""
        if self.left_out:
            agents = ", ".join([*self._agents][:_SHOWN]) if self.filter.agent else ""
            agents_hint = f"; agents in the traces: {agents}" if agents else ""
            return f"the filters left out {_count_traces(self.left_out)}{agents_hint}"
        if self.problems:
            return self.problems[-1].hint or self.problems[-1].message
        return None

    def to_report(self, form: str, cases: int, losses: Sequence[Loss] = ()) -> CaptureReport:
        """What became of the traces."""
        return CaptureReport(
            format=form,
            cases=cases,
            left_out=self.left_out,
            duplicates=tuple(self.duplicates),
            problems=tuple(self.problems),
            losses=losses,
        )


def case_from_trace(trace: Trace, agent: str | None = None) -> Case:
    """The case that expects what the agent did in the trace."""
    return msgspec.structs.replace(
        _case_header(trace, agent),
        turns=tuple(map(_turn_from_trace, trace.turns)),
        trajectory=_trajectory(trace),
        state=trace.state,
    )


def table_case(trace: Trace, agent: str | None = None) -> Case:
    """The case that expects nothing yet, with its trace: a row of the simulation table."""
    users = tuple(Turn(user=turn.user) for turn in trace.turns)
    case = _case_header(trace, agent)
    return msgspec.structs.replace(case, turns=users, recorded=add_table_columns(trace, case.id))


def _case_header(trace: Trace, agent: str | None) -> Case:
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
    lineage: dict[str, Json | None] = {
        "source": f"{trace.convention} trace" if trace.convention else "trace",
        "trace_id": ids[0] if ids else trace.id,
        "session_id": trace.conversation,
        "file": Path(trace.source).name if trace.source else None,
        "date_added": _date(start, "day") if start else None,
    }
    return {name: value for name, value in lineage.items() if value is not None}


def _date(start: int, precision: Literal["day", "seconds"]) -> str | None:
    try:
        moment = datetime.fromtimestamp(start // 10**9, UTC)
    except (OverflowError, OSError, ValueError):
        return None
    return moment.date().isoformat() if precision == "day" else f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _turn_from_trace(turn: Turn) -> Turn:
    """The part of a turn that can be expected again: no times, no tokens."""
    calls = turn.tool_calls
    return Turn(
        id=turn.id,
        user=turn.user,
        response=turn.response,
        tool_calls=None if calls is None else tuple(map(_call_from_trace, calls)),
        tool_results=turn.tool_results,
        messages=turn.messages,
        agents=turn.agents,
        app=turn.app,
    )


def _call_from_trace(call: ToolCall) -> ToolCall:
    return ToolCall(name=call.name, args=call.args, id=call.id, agent=call.agent)


def _trajectory(trace: Trace) -> tuple[str, ...] | None:
    steps: list[str] = []
    for agent in (agent for turn in trace.turns for agent in turn.agents):
        if steps[-1:] != [agent]:
            steps.append(agent)
    return tuple(steps) or None


def _content(turn: Turn) -> list[Json]:
    calls: list[Json] = [[call.name, call.args] for call in turn.tool_calls or ()]
    return [turn.user, turn.response, calls]


def _missing_user_message(trace: Trace) -> Problem:
    return Problem(
        where=f"{trace.source}: {trace.id}" if trace.source else trace.id,
        message="the user's message is missing; the trace cannot become a case",
        hint=how_to_record(trace.convention or "", "user"),
        severity="warning",
    )


def _ids(trace: Trace) -> list[str]:
    ids = trace.attributes.get("trace_ids")
    return [str(trace_id) for trace_id in ids] if isinstance(ids, list) else []


def _start(trace: Trace) -> int | None:
    return min((turn.start for turn in trace.turns if turn.start is not None), default=None)


def _status(trace: Trace) -> Status:
    return "error" if any(turn.error is not None for turn in trace.turns) else "ok"


def _count_traces(number: int) -> str:
    return "the only trace" if number == 1 else f"all {number} traces"
