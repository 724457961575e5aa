"""Tool calls: what models asked for and what tools' spans tell, made one list."""

from __future__ import annotations

from collections import deque
from itertools import islice

import msgspec

from carob.schema import Json, ToolCall, ToolResult
from carob.traces.mapping.convention import ToolSpan
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_spans import failure_reason
from carob.traces.messages.message import CallBlock, ResultBlock

WINDOW = 64
"""Calls of one name, waiting for their spans, that are compared with each."""


class MatchedCall(msgspec.Struct, eq=False, gc=False):
    """One call of a tool, by the model that asked for it, the span that ran it, or both."""

    name: str
    call: CallBlock | None
    agent: str | None
    start: int | None
    asker: RoleSpan | None = None
    tool: ToolSpan | None = None
    reading: RoleSpan | None = None
    result: ResultBlock | None = None
    id: str | None = None
    """The call's id, where either side tells it; a mere count of calls is none."""

    @property
    def args(self) -> Json:
        """The model's own words first: a tool's span often has them wrapped, or not at all."""
        asked = self.call.args if self.call else None
        if asked or self.tool is None or self.tool.recorded is None:
            return asked
        return self.tool.args

    def to_call(self) -> ToolCall:
        """As the schema has it."""
        start, end = self.start, None
        if self.reading is not None:
            start, end = self.reading.span.start, self.reading.span.end
        return ToolCall(self.name, self.args, self.id, self.agent, None, None, start, end)

    def to_result(self) -> ToolResult | None:
        """What the tool answered; `None` if it is not known to have run."""
        tool, result = self.tool, self.result
        if tool is None and result is None:
            return None
        value: Json = None
        if tool is not None and tool.output is not None:
            value = tool.output.value
        elif result is not None:
            value = result.value
        return ToolResult(self.name, self.id, value, self._error(value))

    def _error(self, value: Json) -> str | None:
        reading, tool, result = self.reading, self.tool, self.result
        found = failure_reason(reading.span) if reading is not None else None
        if found is not None:
            return found or _shown(value)
        if tool is not None and tool.output is not None and tool.output.failed:
            return _shown(value)
        return _shown(value) if result is not None and result.error else None


def _shown(value: Json) -> str:
    return value if isinstance(value, str) and value else "the tool failed"


def match_calls(asked: list[MatchedCall], ran: list[MatchedCall]) -> list[MatchedCall]:
    """Joins by id, then by name and arguments, then by name and order."""
    by_id: dict[str | None, MatchedCall] = {made.id: made for made in asked if made.id}
    late: list[MatchedCall] = []
    for made in ran:
        match = by_id.get(made.id)
        if match is not None and match.reading is None:
            _run(match, made)
        else:
            late.append(made)
    return _joined_by_name(asked, late) if late else asked


def _joined_by_name(asked: list[MatchedCall], late: list[MatchedCall]) -> list[MatchedCall]:
    waiting: dict[str, deque[MatchedCall]] = {}
    for made in asked:
        if made.reading is None:
            waiting.setdefault(made.name, deque()).append(made)
    extra: list[MatchedCall] = []
    for made in late:
        calls = waiting.get(made.name)
        at = _position(calls, made) if calls else None
        if calls is None or at is None:
            extra.append(made)
        else:
            _run(calls[at], made)
            del calls[at]
    # Calls that no model was seen asking for take their place by time among the others.
    return sorted([*asked, *extra], key=lambda made: made.start or 0) if extra else asked


def _run(match: MatchedCall, made: MatchedCall) -> None:
    match.tool, match.reading = made.tool, made.reading
    if made.id and (match.id is None or is_counted(match.id, match.name)):
        match.id = made.id
    match.agent = match.agent or made.agent


def _position(calls: deque[MatchedCall], made: MatchedCall) -> int | None:
    fits = [at for at, call in enumerate(islice(calls, WINDOW)) if _may_run(call, made)]
    for at in fits:
        if calls[at].args == made.args:
            return at
    return fits[0] if fits else None


def _may_run(call: MatchedCall, made: MatchedCall) -> bool:
    """A span that tells another id runs another call, and no tool runs before it is asked for."""
    known = call.call.id if call.call else None
    told = made.tool.id if made.tool else None
    if known and told and known != told and not (_is_own(told) or is_counted(known, call.name)):
        return False
    return call.start is None or made.start is None or call.start <= made.start


def _is_own(told: str) -> bool:
    """Some recorders give executions a UUID of their own in place of naming the model's call."""
    return len(told) == 36 and told.count("-") == 4


def is_counted(known: str, name: str) -> bool:
    """Whether an id is `search_0`: Gemini names no calls, so recorders count those of a message."""
    return known.startswith(f"{name}_") and known[len(name) + 1 :].isdigit()
