"""A recording as a row of the simulation table needs it: its summary, and its spans.

Every call is one span that tells arguments and answer, takes as long as it took, and stands below
the model call that asked for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import msgspec

from carob.schema import Json, Message, ModelCall, Span, ToolCall, ToolResult, Trace, Turn

_PRIVATE = {"user_id", "trace_ids"}
"""What a row has no column for: users are not named in golden data."""


def tabled(trace: Trace, case: str) -> Trace:
    """The recording with the columns `trace_summary` and `session_trace`."""
    spans: list[Json] = [_row(span) for span in trace.spans or _told_spans(trace)]
    known = {name: held for name, held in trace.attributes.items() if name not in _PRIVATE}
    columns: dict[str, Json] = {"trace_summary": summary(trace), "session_trace": spans}
    return msgspec.structs.replace(
        trace,
        case=case,
        turns=tuple(map(_spoken, trace.turns)),
        attributes=known | columns,
        spans=(),
    )


def _spoken(turn: Turn) -> Turn:
    """The turn with its response among what the agents said."""
    if turn.response is None:
        return turn
    agent = turn.agents[-1] if turn.agents else ""
    last = Message(agent=agent, text=turn.response)
    return msgspec.structs.replace(turn, messages=(*turn.messages, last))


def summary(trace: Trace) -> str:
    """The session as plain text; the user is called `user`, whoever that was."""
    return "\n".join(line for turn in trace.turns for line in _lines(turn))


def _lines(turn: Turn) -> Iterator[str]:
    if turn.user is not None:
        yield f"user: {turn.user}"
    results = _results(turn)
    for call, result in zip(turn.tool_calls or (), results, strict=True):
        yield f"{call.agent or 'agent'} calls {call.name}({_json(call.args)})"
        if result is not None:
            yield f"{call.name} answers {_json(_answer(result))}"
    for message in _spoken(turn).messages:
        yield f"{message.agent or 'agent'}: {message.text}"
    if turn.error is not None:
        yield f"error: {turn.error}"


def _results(turn: Turn) -> list[ToolResult | None]:
    """The result of each call, by its id, else by its name and order."""
    left = list(turn.tool_results)
    found: list[ToolResult | None] = []
    for call in turn.tool_calls or ():
        result = next((one for one in left if _answers(one, call)), None)
        if result is not None:
            left.remove(result)
        found.append(result)
    return found


def _answers(result: ToolResult, call: ToolCall) -> bool:
    return result.id == call.id if result.id and call.id else result.name == call.name


def _answer(result: ToolResult) -> Json:
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


def _told_spans(trace: Trace) -> Iterator[Span]:
    """Spans for a session that was recorded without any, under ADK's names for them."""
    for number, turn in enumerate(trace.turns):
        yield from _Spans(trace, number, turn).all()


class _Spans:
    """The spans of one turn."""

    def __init__(self, trace: Trace, number: int, turn: Turn) -> None:
        self.trace = trace
        self.turn = turn
        self.prefix = f"{trace.id}/{number}"
        self.root = self._id("invocation")
        self.session: dict[str, Json] = {"gcp.vertex.agent.session_id": trace.id}

    def all(self) -> Iterator[Span]:
        """The invocation, its agents, their model calls, and the tools that those asked for."""
        turn = self.turn
        yield self._span("invocation", self.root, None, turn.start, turn.end, {})
        for agent in dict.fromkeys(turn.agents):
            owner = self.root if agent == turn.agents[0] else self._id(turn.agents[0])
            named: dict[str, Json] = {"gen_ai.agent.name": agent}
            name = f"invoke_agent {agent}"
            yield self._span(name, self._id(agent), owner, *self._times(agent), named)
        yield from self._models()
        yield from self._tools()

    def _models(self) -> Iterator[Span]:
        before = self.turn.start
        for place, call in enumerate(self.turn.model_calls):
            start = before if call.start is None else call.start
            key = self._id(f"model {place}")
            owner = self._owner(call.agent)
            yield self._span("call_llm", key, owner, start, call.end, _model_attributes(call))
            before = call.end if call.end is not None else before

    def _tools(self) -> Iterator[Span]:
        results = _results(self.turn)
        for place, call in enumerate(self.turn.tool_calls or ()):
            attributes = _tool_attributes(call, results[place])
            name, key = f"execute_tool {call.name}", self._id(f"tool {place}")
            yield self._span(name, key, self._asker(call), call.start, call.end, attributes)

    def _asker(self, call: ToolCall) -> str:
        """The latest model call of the agent that had ended when the tool was called."""
        asked = [
            place
            for place, model in enumerate(self.turn.model_calls)
            if model.agent == call.agent
            and (model.end is None or call.start is None or model.end <= call.start)
        ]
        return self._id(f"model {asked[-1]}") if asked else self._owner(call.agent)

    def _owner(self, agent: str | None) -> str:
        return self._id(agent) if agent in self.turn.agents and agent else self.root

    def _times(self, agent: str) -> tuple[int | None, int | None]:
        turn = self.turn
        if len({*turn.agents}) == 1 or agent == turn.agents[0]:
            return turn.start, turn.end
        did = [
            *(one for one in turn.model_calls if one.agent == agent),
            *(one for one in turn.tool_calls or () if one.agent == agent),
        ]
        times = [time for one in did for time in (one.start, one.end) if time is not None]
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
    found: dict[str, Json] = {
        "gen_ai.request.model": call.model,
        "gen_ai.agent.name": call.agent,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
        "gen_ai.usage.reasoning.output_tokens": usage.reasoning_tokens,
    }
    return {name: value for name, value in found.items() if value is not None}


def _tool_attributes(call: ToolCall, result: ToolResult | None) -> dict[str, Json]:
    found: dict[str, Json] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gcp.vertex.agent.tool_call_args": None if call.args is None else _json(call.args),
        "gcp.vertex.agent.tool_response": None if result is None else _json(_answer(result)),
    }
    return {name: value for name, value in found.items() if value is not None}
