"""Match the tool calls that models request with the tool spans that execute them."""

from __future__ import annotations

from collections import deque
from itertools import islice

import msgspec

from carob.schema import Json, ToolCall, ToolResult
from carob.traces.mapping.roles import RoleSpan, covers
from carob.traces.mapping.tool_spans import ToolSpan, failure_reason
from carob.traces.messages.message import CallBlock, ResultBlock
from carob.traces.messages.turns import TOOL_FAILED

_MAX_COMPARED = 64
"""Requested calls of one name that are compared with a tool span; all of them is quadratic."""

_MAX_PARALLEL = 8
"""Runs of tools before another one that may be the same run."""


class MatchedCall(msgspec.Struct, eq=False, gc=False):
    """A tool call, known from the model that requested it, the span that ran it, or both."""

    name: str
    request: CallBlock | None
    agent: str | None
    start: int | None
    requester: RoleSpan | None = None
    tool: ToolSpan | None = None
    tool_span: RoleSpan | None = None
    result: ResultBlock | None = None
    id: str | None = None

    @property
    def args(self) -> Json:
        """The arguments of the request, else of the span, where they are often wrapped.

        A bare text is not the arguments: LangChain prints the value of a single argument alone.
        """
        requested = self.request.args if self.request else None
        if requested or self.tool is None or self.tool.raw_args is None:
            return requested
        args = self.tool.args
        return requested if isinstance(args, str) else args

    def to_call(self) -> ToolCall:
        """Return the call as the schema has it."""
        start, end = self.start, None
        if self.tool_span is not None:
            start, end = self.tool_span.span.start, self.tool_span.span.end
        return ToolCall(self.name, self.args, self.id, self.agent, None, None, start, end)

    def to_result(self) -> ToolResult | None:
        """Return the result of the call; `None` if the tool is not known to have run."""
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
        tool_span, tool, result = self.tool_span, self.tool, self.result
        reason = failure_reason(tool_span.span) if tool_span is not None else None
        if reason is not None:
            return reason or _error_text(value)
        if tool is not None and tool.output is not None and tool.output.failed:
            return _error_text(value)
        if result is not None and result.error:
            return result.reason or _error_text(value)
        return None


def _error_text(value: Json) -> str:
    return value if isinstance(value, str) and value else TOOL_FAILED


def find_twin(
    role_span: RoleSpan, tool: ToolSpan, executed: list[MatchedCall]
) -> MatchedCall | None:
    """The same run of a tool in the tree of another recorder, which was running already."""
    for call in executed[-_MAX_PARALLEL:]:
        other, other_span = call.tool, call.tool_span
        if (
            call.name == tool.name
            and other is not None
            and other_span is not None
            and other_span.span.scope != role_span.span.scope
            and covers(other_span.span, role_span.span.start)
            and _is_same_run(tool, other)
        ):
            return call
    return None


def _is_same_run(tool: ToolSpan, other: ToolSpan) -> bool:
    """Whether two spans may record the same run: by their ids, else by their arguments, of which
    one recorder may only have the text of a single one."""
    if tool.id is not None and other.id is not None:
        return tool.id == other.id
    args, other_args = tool.args, other.args
    is_known = isinstance(args, dict) and isinstance(other_args, dict)
    return not is_known or args == other_args


def merge_twin(outer: MatchedCall, tool: ToolSpan, role_span: RoleSpan) -> None:
    """Complete a call from a second span of the same run: one within it, or another recorder's."""
    outer_tool = outer.tool
    if outer_tool is None or outer.tool_span is None:
        return
    outer_tool.id = outer.id = outer.id or tool.id
    if outer_tool.raw_args is None:
        outer_tool.raw_args, outer_tool.args_key = tool.raw_args, tool.args_key
    if outer_tool.output is None:
        outer_tool.output, outer_tool.output_key = tool.output, tool.output_key
    if failure_reason(outer.tool_span.span) is None and failure_reason(role_span.span) is not None:
        outer.tool_span = role_span


def match_calls(requested: list[MatchedCall], executed: list[MatchedCall]) -> list[MatchedCall]:
    """Match by id, then by name and arguments, then by name and order."""
    # By id first, for all calls: a span matched by name could take the request of a later span that
    # has its id.
    by_id: dict[str | None, MatchedCall] = {call.id: call for call in requested if call.id}
    unmatched: list[MatchedCall] = []
    for call in executed:
        match = by_id.get(call.id)
        if match is not None and match.tool_span is None:
            _merge(match, call)
        else:
            unmatched.append(call)
    return _match_by_name(requested, unmatched) if unmatched else requested


def _match_by_name(requested: list[MatchedCall], executed: list[MatchedCall]) -> list[MatchedCall]:
    waiting: dict[str, deque[MatchedCall]] = {}
    for request in requested:
        if request.tool_span is None:
            waiting.setdefault(request.name, deque()).append(request)
    extra: list[MatchedCall] = []
    for call in executed:
        requests = waiting.get(call.name)
        index = _find_request(requests, call) if requests else None
        if requests is None or index is None:
            extra.append(call)
        else:
            _merge(requests[index], call)
            del requests[index]
    # Calls without a recorded request are placed among the others by time.
    return sorted([*requested, *extra], key=lambda call: call.start or 0) if extra else requested


def _merge(request: MatchedCall, call: MatchedCall) -> None:
    request.tool, request.tool_span = call.tool, call.tool_span
    if call.id and (request.id is None or is_counter_id(request.id, request.name)):
        request.id = call.id
    request.agent = request.agent or call.agent


def _find_request(requests: deque[MatchedCall], call: MatchedCall) -> int | None:
    candidates = [
        index
        for index, request in enumerate(islice(requests, _MAX_COMPARED))
        if _may_match(request, call)
    ]
    for index in candidates:
        if requests[index].args == call.args:
            return index
    return candidates[0] if candidates else None


def _may_match(request: MatchedCall, call: MatchedCall) -> bool:
    """Whether a span may execute a request: another id is another call, and no tool runs early."""
    requested = request.request.id if request.request else None
    executed = call.tool.id if call.tool else None
    # Ids that the recorder made up do not contradict each other.
    if (
        requested
        and executed
        and requested != executed
        and not (_is_uuid(executed) or is_counter_id(requested, request.name))
    ):
        return False
    return request.start is None or call.start is None or request.start <= call.start


def _is_uuid(call_id: str) -> bool:
    """Whether an id is a UUID, which some recorders give to executions of their own accord."""
    return len(call_id) == 36 and call_id.count("-") == 4


def is_counter_id(call_id: str, name: str) -> bool:
    """Whether an id is like `search_0`: Gemini's calls have no ids, so recorders number them."""
    return call_id.startswith(f"{name}_") and call_id[len(name) + 1 :].isdigit()
