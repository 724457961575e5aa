"""The tool calls of a turn: requested by models, executed by tools, answered by messages."""

from __future__ import annotations

from carob.schema import Span
from carob.traces.mapping.call_matching import MatchedCall, find_twin, match_calls, merge_twin
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_results import add_results, results_since_user, since_user
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans, agent_of
from carob.traces.messages.frames import is_hand_over
from carob.traces.messages.message import CallBlock, Message, ResultBlock, asked_text


def find_tool_calls(turn: TurnSpans) -> list[MatchedCall]:
    """Return the tool calls of a turn, each with its arguments and its result."""
    requested, results = _find_requests(turn)
    executed = _find_executions(turn)
    if any(call.tool and call.tool.is_request for call in executed):
        known_ids = {call.id for call in requested} - {None}
        requested += [call for call in _take_requests(executed) if call.id not in known_ids]
    # The agents' own messages are the last resort: they record neither when a call was made nor by
    # which model.
    if not requested and not (executed and all(_is_complete(call) for call in executed)):
        requested, results = _calls_of_agents(turn)
    calls = match_calls(requested, executed)
    add_results(calls, results, turn)
    return calls


def _find_requests(turn: TurnSpans) -> tuple[list[MatchedCall], list[ResultBlock]]:
    requested: list[MatchedCall] = []
    results: list[ResultBlock] = []
    inner_ids = _ids_within_models(turn)
    for model in turn.models:
        outer = model.outer
        earlier = _overwritten_calls(model, inner_ids) if id(outer) in inner_ids else []
        requested += earlier
        known_ids = {call.id for call in earlier}
        for message in model.messages:
            if message.calls:
                start = outer.span.start
                new = [call for call in message.calls if call.id not in known_ids or not call.id]
                requested += [_request(call, model.agent, start, outer) for call in new]
            if message.results:
                results += message.results
        if requested and model.source and "tool_calls" not in turn.sources:
            turn.sources["tool_calls"] = model.source
    if turn.owner is None and turn.models:
        earlier = _calls_before(turn.models[0], {call.id for call in requested})
        requested, results = [*earlier[0], *requested], [*earlier[1], *results]
    if not all(model.messages for model in turn.models):
        repeated = _calls_in_history(turn, {call.id for call in requested})
        if repeated:
            requested = sorted([*requested, *repeated], key=lambda call: call.start or 0)
    return requested, results


def _ids_within_models(turn: TurnSpans) -> dict[int, set[str]]:
    """The ids of the calls that ran within the span of a model call, by the id of that span."""
    ids: dict[int, set[str]] = {}
    for tool in turn.tools:
        model = tool.context.inner_model
        if model is not None and (call_id := tool.convention.tool(tool.span).id):
            ids.setdefault(id(model), set()).add(call_id)
    return ids


def _overwritten_calls(model: ModelSpans, inner_ids: dict[int, set[str]]) -> list[MatchedCall]:
    """The calls that ran within the span of a model call: the model call that requested them was
    recorded in the same span, and the next one, which received their results, wrote over it."""
    calls, _ = _calls_before(model, set())
    return [call for call in calls if call.id in inner_ids[id(model.outer)]]


def _calls_before(
    model: ModelSpans, known_ids: set[str | None]
) -> tuple[list[MatchedCall], list[ResultBlock]]:
    """The calls of the turn that were made before a model call whose predecessors are not recorded:
    without a span around them, most recorders write a trace for every model call."""
    received = model.outer.input_messages()
    # If the question of this turn is missing, the calls may be those of an earlier turn.
    if received is None or asked_text(received[1]) is None:
        return [], []
    recent = since_user(received[1])
    calls = [call for call in _calls_of_models(recent) if call.id not in known_ids]
    requests = [_request(call, None, None, model.outer) for call in calls]
    return requests, results_since_user(recent) if calls else []


def _calls_of_models(messages: list[Message]) -> list[CallBlock]:
    """The calls that a model requested: a supervisor adds calls to the history by which an agent
    seems to hand back."""
    return [
        call
        for message in messages
        if not (message.text and is_hand_over(message.text))
        for call in message.calls
    ]


def _calls_in_history(turn: TurnSpans, known_ids: set[str | None]) -> list[MatchedCall]:
    """Calls of models without recorded output, from the history that a later call received."""
    silent = {
        id(model.outer.context.agent): model
        for model in reversed(turn.models)
        if not model.messages
    }
    calls_found: list[MatchedCall] = []
    for model in turn.models:
        first = silent.get(id(model.outer.context.agent))
        if first is None or first is model or (received := model.outer.input_messages()) is None:
            continue
        outer = first.outer
        # What the model without output received itself was called before it.
        before = outer.input_messages()
        earlier = {call.id for message in (before[1] if before else ()) for call in message.calls}
        calls = _calls_of_models(since_user(received[1]))
        new = [call for call in calls if call.id and call.id not in known_ids | earlier]
        calls_found += [_request(call, model.agent, outer.span.start, outer) for call in new]
        known_ids |= {call.id for call in new}
    return calls_found


def _request(
    call: CallBlock, agent: str | None, start: int | None, requester: RoleSpan
) -> MatchedCall:
    return MatchedCall(call.name, call, agent, start, requester, None, None, None, call.id or None)


def _find_executions(turn: TurnSpans) -> list[MatchedCall]:
    executed: list[MatchedCall] = []
    call_by_span: dict[int, MatchedCall] = {}
    sources = turn.sources
    has_twins = len({role_span.span.scope for role_span in turn.tools}) > 1
    for role_span in turn.tools:
        span, context = role_span.span, role_span.context
        tool = role_span.convention.tool(span)
        name = tool.name
        if name is None:
            turn.unnamed_tools += 1
            continue
        outer = call_by_span.get(id(context.tool)) if context.tool is not None else None
        if outer is not None and _is_same_tool(name, outer.name, span):
            call_by_span[id(role_span)] = outer
            merge_twin(outer, tool, role_span)
            continue
        if has_twins and (twin := find_twin(role_span, tool, executed)) is not None:
            call_by_span[id(role_span)] = twin
            merge_twin(twin, tool, role_span)
            continue
        agent = agent_of(role_span, turn)
        call = MatchedCall(name, None, agent, span.start, None, tool, role_span, None, tool.id)
        executed.append(call)
        call_by_span[id(role_span)] = call
        if "tool_args" not in sources and tool.args_key and tool.raw_args is not None:
            sources["tool_args"] = tool.args_key
        if "tool_results" not in sources and tool.output_key and tool.output is not None:
            sources["tool_results"] = tool.output_key
    return executed


def _is_same_tool(name: str, outer_name: str, span: Span) -> bool:
    """Whether a span within that of a tool is of the same tool, of which MCP's spans lack the name
    of the server: `find` for `mcp__shop__find`."""
    if name == outer_name:
        return True
    return "mcp.method.name" in span.attributes and outer_name.endswith(f"_{name}")


def _is_complete(call: MatchedCall) -> bool:
    return call.id is not None and call.args is not None


def _take_requests(executed: list[MatchedCall]) -> list[MatchedCall]:
    """Remove the spans that only record a model's request, and return them as requests."""
    requests = [call for call in executed if call.tool and call.tool.is_request]
    executed[:] = [call for call in executed if not (call.tool and call.tool.is_request)]
    return [
        MatchedCall(
            call.name,
            CallBlock(call.name, call.args, call.id),
            call.agent,
            call.start,
            call.tool_span,
            id=call.id,
        )
        for call in requests
    ]


def _calls_of_agents(turn: TurnSpans) -> tuple[list[MatchedCall], list[ResultBlock]]:
    """Calls that only the agents' own messages record. An agent's messages may include those of
    the agents within it, so a call that several agents list counts once."""
    requested: list[MatchedCall] = []
    results: list[ResultBlock] = []
    counted_ids: set[str | None] = {None}
    first = turn.first_agent or turn.owner
    for agent in turn.owners:
        has_run = agent is first or agent is turn.owner or agent.role == "agent"
        run = _run_messages(agent) if has_run else None
        messages = since_user(run[1]) if run else []
        calls = [call for message in messages for call in message.calls]
        if requested:
            calls = [call for call in calls if call.id not in counted_ids]
        requested += [_request(call, agent.name, agent.span.start, agent) for call in calls]
        counted_ids.update(call.id for call in calls)
        results += [result for message in messages for result in message.results]
        if run and calls:
            turn.sources.setdefault("tool_calls", run[0])
    return requested, results


def _run_messages(agent: RoleSpan) -> tuple[str, list[Message]] | None:
    output = agent.output_messages()
    if output is not None and any(message.calls for message in output[1]):
        return output
    return agent.convention.transcript_messages(agent.span)
