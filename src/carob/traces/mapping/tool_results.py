"""The results of a turn's tool calls that no tool span records: models receive them in messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from carob.traces.mapping.call_matching import MatchedCall
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_spans import ToolSpan
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans
from carob.traces.messages.frames import is_observation
from carob.traces.messages.message import Message, ResultBlock
from carob.traces.messages.printed import is_printed_object
from carob.traces.messages.withheld import hide_markers
from carob.traces.shape import to_text

_ERROR_FIELDS = ('"is_error"', '"status": "error"', '"status":"error"')


def add_results(calls: list[MatchedCall], results: list[ResultBlock], turn: TurnSpans) -> None:
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
        if results := results_since_user(received[1]):
            has_results = True
            yield received[0], results
        for source in role_span.convention.input_sources(role_span.span):
            value = role_span.span.attributes.get(source.key)
            if source.key == received[0]:
                continue
            if has_results and not (value and _names_errors(to_text(value))):
                continue
            if results := results_since_user(hide_markers(source.read(role_span.span) or [])):
                has_results = True
                yield source.key, results


def _names_errors(request: str) -> bool:
    return any(field in request for field in _ERROR_FIELDS)


def results_since_user(messages: list[Message]) -> list[ResultBlock]:
    """Return the results that the messages after the user's last one contain."""
    recent = since_user(messages)
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


def since_user(messages: list[Message]) -> list[Message]:
    """Return the messages after the user's last one."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        # Also without a text, which is then not recorded. A message without a role may be the
        # user's.
        is_unknown = message.role == "other" and message.hidden
        if is_unknown or (message.role == "user" and not message.results):
            return messages[index + 1 :]
    return messages
