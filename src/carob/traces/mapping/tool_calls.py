"""The tool calls of a turn: requested by models, executed by tools, answered by messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from carob.schema import Span
from carob.traces.mapping.call_matching import MatchedCall, find_twin, match_calls, merge_twin
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans, agent_of
from carob.traces.messages.frames import is_hand_over, is_observation
from carob.traces.messages.message import CallBlock, Message, ResultBlock, asked_text
from carob.traces.messages.printed import is_printed_object
from carob.traces.messages.withheld import hide_markers
from carob.traces.shape import to_text

_ERROR_FIELDS = ('"is_error"', '"status": "error"', '"status":"error"')


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
    _add_results(calls, results, turn)
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
    recent = _since_user(received[1])
    calls = [call for call in _calls_of_models(recent) if call.id not in known_ids]
    requests = [_request(call, None, None, model.outer) for call in calls]
    return requests, _results_since_user(recent) if calls else []


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
        calls = _calls_of_models(_since_user(received[1]))
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
        messages = _since_user(run[1]) if run else []
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


def _since_user(messages: list[Message]) -> list[Message]:
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        # Also without a text, which is then not recorded. A message without a role may be the
        # user's.
        is_unknown = message.role == "other" and message.hidden
        if is_unknown or (message.role == "user" and not message.results):
            return messages[index + 1 :]
    return messages


def _add_results(calls: list[MatchedCall], results: list[ResultBlock], turn: TurnSpans) -> None:
    """Add results that no tool span records, from the messages that return them to the model."""
    missing = [call for call in calls if call.tool is None or not _has_output(call.tool)]
    if not missing:
        return
    known_ids = {call.id for call in calls} | {call.request.id for call in calls if call.request}
    _OpenCalls(missing, known_ids).assign(results)
    unanswered = [call for call in missing if call.result is None and call.requester is not None]
    open_calls = _OpenCalls(unanswered, known_ids)
    for model in _last_models(turn, open_calls):
        if _first_open(open_calls.calls, model.outer) is None:
            continue
        for number, (source, returned) in enumerate(_read_returned_results(model)):
            if number:  # OpenInference records only in the whole request that a tool failed
                open_calls.mark_errors(returned)
            else:
                open_calls.assign(returned, model.outer)
                turn.sources.setdefault("tool_results", source)
    # What is left in the span of such a tool is only the `repr` of its result.
    for call in missing:
        if call.tool is not None and call.result is not None:
            call.tool.output = None


def _has_output(tool: ToolSpan) -> bool:
    """Whether the span holds the result itself, not just the `repr` of an object."""
    output = tool.output
    if output is None:
        return False
    return not (isinstance(output.value, str) and is_printed_object(output.value))


def _read_returned_results(model: ModelSpans) -> Iterator[tuple[str, list[ResultBlock]]]:
    """The results that a model received since the user wrote, from every source that has some.

    After the first such source, only sources that record errors are read.
    """
    has_results = False
    for role_span in model.spans:
        received = role_span.input_messages()
        if received is None:
            continue
        if results := _results_since_user(received[1]):
            has_results = True
            yield received[0], results
        for source in role_span.convention.input_sources(role_span.span):
            value = role_span.span.attributes.get(source.key)
            if source.key == received[0]:
                continue
            if has_results and not (value and _names_errors(to_text(value))):
                continue
            if results := _results_since_user(hide_markers(source.read(role_span.span) or [])):
                has_results = True
                yield source.key, results


def _names_errors(request: str) -> bool:
    return any(field in request for field in _ERROR_FIELDS)


def _results_since_user(messages: list[Message]) -> list[ResultBlock]:
    recent = _since_user(messages)
    calls = sum(len(message.calls) for message in recent)
    results = [
        result
        for message in recent
        for result in message.results
        if not (isinstance(result.value, str) and is_observation(result.value))
    ]
    if calls <= len(results):
        return results
    # OpenInference writes the results of parallel calls into one message, as a list.
    own = _ids_with_own_results(recent)
    return [r for r in results if not isinstance(r.value, list) or r.id in own]


def _ids_with_own_results(messages: list[Message]) -> set[str]:
    """The ids of calls whose result is not that of other calls as well: each of the calls made
    with them has a result under its own id."""
    answered = {result.id for message in messages for result in message.results}
    own: set[str] = set()
    parallel: list[str | None] = []
    for message in messages:
        if message.results:
            parallel = []
        parallel += [call.id for call in message.calls]
        if answered.issuperset(parallel):
            own.update(call_id for call_id in parallel if call_id)
        else:
            own.difference_update(parallel)
    return own


def _last_models(turn: TurnSpans, open_calls: _OpenCalls) -> Iterator[ModelSpans]:
    """The last model call of each agent, which received all results of the agent's calls.

    While calls are open, those of agents without a span follow, who were asked something else.
    """
    last = {id(model.outer.context.agent): model for model in turn.models}
    yield from last.values()
    if _first_open(open_calls.calls, None) is not None:
        last_asked = {model.outer.user_text(): model for model in turn.models}
        known = {id(model) for model in last.values()}
        yield from (model for model in last_asked.values() if id(model) not in known)


class _OpenCalls:
    """Calls without a result, indexed by id and by name.

    Without the indexes, every model call would be compared with every call of the turn.
    """

    def __init__(self, calls: list[MatchedCall], known_ids: set[str | None]) -> None:
        self.calls = deque(calls)
        self.known_ids = known_ids
        self.by_id: dict[str, list[MatchedCall]] = {}
        self.by_name: dict[str | None, deque[MatchedCall]] = {}
        for call in calls:
            for key in {call.id, call.request.id if call.request else None}:
                if key is not None:
                    self.by_id.setdefault(key, []).append(call)
            self.by_name.setdefault(call.name, deque()).append(call)

    def assign(self, results: list[ResultBlock], model: RoleSpan | None = None) -> None:
        """Assign results by id, else by name and order.

        `model` received the results, so they are not those of the calls that it requests itself.
        """
        by_id: dict[str, list[ResultBlock]] = {}
        unnamed: list[ResultBlock] = []
        for result in results:
            if result.id is not None and result.id in self.known_ids:
                by_id.setdefault(result.id, []).append(result)
            elif result.name is None:
                unnamed.append(result)
            elif (calls := self.by_name.get(result.name)) and (call := _first_open(calls, model)):
                call.result = result
        for key, same_id in by_id.items():
            # Ids like `search_0` number the calls of one message, so they repeat in the next one.
            calls = (call for call in self.by_id.get(key, ()) if _is_open(call, model))
            for index, call in enumerate(calls):
                call.result = result = same_id[min(index, len(same_id) - 1)]
                # botocore's recorder writes a result twice, and once without its status
                result.error = result.error or any(
                    twin.error and twin.value == result.value for twin in same_id
                )
        self._assign_in_order(unnamed, model)

    def mark_errors(self, results: list[ResultBlock]) -> None:
        """Mark results as errors that another source of the same results records as such."""
        for result in results:
            for call in self.by_id.get(result.id or "", ()) if result.error else ():
                if call.result is not None:
                    call.result.error = True

    def _assign_in_order(self, results: list[ResultBlock], model: RoleSpan | None) -> None:
        """Assign results without a known id or name, but only if there is one for each call."""
        calls = [call for call in self.calls if _is_open(call, model)] if results else []
        if model is not None:  # an agent receives the results of its own calls
            agent = model.context.agent
            calls = [
                call for call in calls if call.requester and call.requester.context.agent is agent
            ]
        if len(calls) == len(results):
            for call, result in zip(calls, results, strict=True):
                call.result = result


def _first_open(calls: deque[MatchedCall], model: RoleSpan | None) -> MatchedCall | None:
    while calls and calls[0].result is not None:
        calls.popleft()
    return next((call for call in calls if _is_open(call, model)), None)


def _is_open(call: MatchedCall, model: RoleSpan | None) -> bool:
    return call.result is None and (model is None or call.requester is not model)
