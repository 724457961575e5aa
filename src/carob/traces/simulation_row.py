"""A trace as a row of the simulation table: its summary and its spans as columns.

A trace without spans gets them from its turns: each tool call becomes a span with its arguments and
result, as long as the call took, below the model call that requested it.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from carob.schema import (
    AgentMessage,
    Json,
    ModelCall,
    Span,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    Usage,
)

_PRIVATE = {"user_id", "trace_ids"}
"""Attributes that are left out: golden data must not name users."""


def add_table_columns(trace: Trace, case: str) -> Trace:
    """The trace with the columns `trace_summary` and `session_trace`."""
    spans: list[Json] = [_row(span) for span in trace.spans or _spans_from_turns(trace)]
    public = {name: value for name, value in trace.attributes.items() if name not in _PRIVATE}
    columns: dict[str, Json] = {"trace_summary": summarize_session(trace), "session_trace": spans}
    return msgspec.structs.replace(
        trace,
        case=case,
        turns=tuple(map(_add_response, trace.turns)),
        attributes=public | columns,
        spans=(),
    )


def _add_response(turn: Turn) -> Turn:
    """The turn with its response as the last of the agents' messages."""
    if turn.response is None:
        return turn
    agent = turn.agents[-1] if turn.agents else ""
    last = AgentMessage(agent=agent, text=turn.response)
    return msgspec.structs.replace(turn, messages=(*turn.messages, last))


def summarize_session(trace: Trace) -> str:
    """The session as plain text; the user is always called `user`."""
    return "\n".join(line for turn in trace.turns for line in _lines(turn))


def _lines(turn: Turn) -> Iterator[str]:
    if turn.user is not None:
        yield f"user: {turn.user}"
    results = _results(turn)
    for call, result in zip(turn.tool_calls or (), results, strict=True):
        yield f"{call.agent or 'agent'} calls {call.name}({_json(call.args)})"
        if result is not None:
            yield f"{call.name} answers {_json(_result_value(result))}"
    for message in _add_response(turn).messages:
        yield f"{message.agent or 'agent'}: {message.text}"
    if turn.error is not None:
        yield f"error: {turn.error}"


def _results(turn: Turn) -> list[ToolResult | None]:
    """The result of each call, matched by id, else by name and order."""
    unmatched = list(turn.tool_results)
    results: list[ToolResult | None] = []
    for call in turn.tool_calls or ():
        result = next((result for result in unmatched if _belongs_to(result, call)), None)
        if result is not None:
            unmatched.remove(result)
        results.append(result)
    return results


def _belongs_to(result: ToolResult, call: ToolCall) -> bool:
    return result.id == call.id if result.id and call.id else result.name == call.name


def _result_value(result: ToolResult) -> Json:
    if result.result is None and result.error is not None:
        return {"error": result.error}
    return result.result


def _json(value: Json) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, msgspec.MsgspecError):
        return repr(value)


def _row(span: Span) -> Json:
    return {
        "name": span.name,
        "span_id": span.span_id,
        "trace_id": span.trace_id,
        "parent_span_id": span.parent_id,
        "start_time": span.start,
        "end_time": span.end,
        "attributes": span.attributes,
    }


def _spans_from_turns(trace: Trace) -> Iterator[Span]:
    """Spans for a session without any, under the names that ADK gives them."""
    for number, turn in enumerate(trace.turns):
        yield from _TurnSpanBuilder(trace, number, turn).all()


class _TurnSpanBuilder:
    """The spans of one turn."""

    def __init__(self, trace: Trace, number: int, turn: Turn) -> None:
        self.trace = trace
        self.turn = turn
        self.prefix = f"{trace.id}/{number}"
        self.root = self._id("invocation")
        self.session: dict[str, Json] = {"gcp.vertex.agent.session_id": trace.id}

    def all(self) -> Iterator[Span]:
        """The invocation, its agents, their model calls, and the tools that these requested."""
        turn = self.turn
        yield self._span("invocation", self.root, None, turn.start, turn.end, {})
        for agent in dict.fromkeys(turn.agents):
            owner = self.root if agent == turn.agents[0] else self._id(turn.agents[0])
            attributes: dict[str, Json] = {"gen_ai.agent.name": agent}
            name = f"invoke_agent {agent}"
            yield self._span(name, self._id(agent), owner, *self._times(agent), attributes)
        yield from self._model_spans()
        yield from self._tool_spans()

    def _model_spans(self) -> Iterator[Span]:
        before = self.turn.start
        for index, call in enumerate(self.turn.model_calls):
            start = before if call.start is None else call.start
            key = self._id(f"model {index}")
            owner = self._owner(call.agent)
            yield self._span("call_llm", key, owner, start, call.end, _model_attributes(call))
            before = call.end if call.end is not None else before

    def _tool_spans(self) -> Iterator[Span]:
        results = _results(self.turn)
        for index, call in enumerate(self.turn.tool_calls or ()):
            attributes = _tool_attributes(call, results[index])
            name, key = f"execute_tool {call.name}", self._id(f"tool {index}")
            yield self._span(name, key, self._requester(call), call.start, call.end, attributes)

    def _requester(self, call: ToolCall) -> str:
        """The latest model call of the agent that had ended when the tool was called."""
        earlier = [
            index
            for index, model in enumerate(self.turn.model_calls)
            if model.agent == call.agent
            and (model.end is None or call.start is None or model.end <= call.start)
        ]
        return self._id(f"model {earlier[-1]}") if earlier else self._owner(call.agent)

    def _owner(self, agent: str | None) -> str:
        return self._id(agent) if agent in self.turn.agents and agent else self.root

    def _times(self, agent: str) -> tuple[int | None, int | None]:
        turn = self.turn
        if len({*turn.agents}) == 1 or agent == turn.agents[0]:
            return turn.start, turn.end
        calls = [
            *(call for call in turn.model_calls if call.agent == agent),
            *(call for call in turn.tool_calls or () if call.agent == agent),
        ]
        times = [time for call in calls for time in (call.start, call.end) if time is not None]
        return min(times, default=None), max(times, default=None)

    def _id(self, name: str) -> str:
        return blake2b(
            f"{self.prefix}/{name}".encode("utf-8", "replace"), digest_size=8
        ).hexdigest()

    def _span(
        self,
        name: str,
        key: str,
        parent: str | None,
        start: int | None,
        end: int | None,
        attributes: dict[str, Json],
    ) -> Span:
        return Span(
            trace_id=self.trace.id,
            span_id=key,
            parent_id=parent,
            name=name,
            start=start,
            end=end,
            attributes=self.session | attributes,
        )


def _model_attributes(call: ModelCall) -> dict[str, Json]:
    usage = call.usage
    attributes: dict[str, Json] = {
        "gen_ai.request.model": call.model,
        "gen_ai.agent.name": call.agent,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.cache_write.input_tokens": usage.cache_write_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
        "gen_ai.usage.total_tokens": usage.total_tokens,
        "gcp.vertex.agent.llm_response": _response(usage),
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _response(usage: Usage) -> str | None:
    """The part of ADK's response that counts tokens of tool results, for which there is no
    attribute."""
    if usage.tool_tokens is None:
        return None
    return _json({"usage_metadata": {"tool_use_prompt_token_count": usage.tool_tokens}})


def _tool_attributes(call: ToolCall, result: ToolResult | None) -> dict[str, Json]:
    attributes: dict[str, Json] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gcp.vertex.agent.tool_call_args": None if call.args is None else _json(call.args),
        "gcp.vertex.agent.tool_response": None if result is None else _json(_result_value(result)),
    }
    return {name: value for name, value in attributes.items() if value is not None}
