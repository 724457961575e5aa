"""The tool calls of a turn: asked for by models, run by tools, told by messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from carob.traces.mapping.call_matching import MatchedCall, match_calls
from carob.traces.mapping.convention import ToolSpan
from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.tool_spans import failure_reason
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans, agent_of
from carob.traces.messages.message import CallBlock, Message, ResultBlock
from carob.traces.messages.printed import is_printed_object
from carob.traces.shape import to_text

_ERROR = '"is_error"'


def tool_calls(work: TurnSpans) -> list[MatchedCall]:
    asked, results = _asked(work)
    ran = _ran(work)
    if any(one.tool and one.tool.requested for one in ran):
        asked += _requests(ran)
    if not asked and not (ran and all(_is_whole(one) for one in ran)):
        asked, results = _told_by_agents(work)
    made = match_calls(asked, ran)
    _answer(made, results, work)
    return made


def _asked(work: TurnSpans) -> tuple[list[MatchedCall], list[ResultBlock]]:
    asked: list[MatchedCall] = []
    results: list[ResultBlock] = []
    for model in work.models:
        outer = model.outer
        for said in model.said:
            if said.calls:
                start = outer.span.start
                asked += [_wanted(call, model.agent, start, outer) for call in said.calls]
            if said.results:
                results += said.results
        if asked and model.key and "tool_calls" not in work.sources:
            work.sources["tool_calls"] = model.key
    if not all(model.said for model in work.models):
        quoted = _quoted(work, {one.id for one in asked})
        asked = sorted([*asked, *quoted], key=lambda one: one.start or 0) if quoted else asked
    return asked, results


def _quoted(work: TurnSpans, known: set[str | None]) -> list[MatchedCall]:
    """Calls of which only the history tells, in what the agent's last model call was given."""
    silent = {id(model.outer.place.agent): model for model in work.models[::-1] if not model.said}
    found: list[MatchedCall] = []
    for model in _last_models(work):
        first = silent.get(id(model.outer.place.agent))
        if first is None or first is model or (told := model.outer.asked()) is None:
            continue
        outer, calls = first.outer, [call for said in _since_user(told[1]) for call in said.calls]
        new = [call for call in calls if call.id and call.id not in known]
        found += [_wanted(call, model.agent, outer.span.start, outer) for call in new]
    return found


def _wanted(call: CallBlock, agent: str | None, start: int | None, asker: RoleSpan) -> MatchedCall:
    return MatchedCall(call.name, call, agent, start, asker, None, None, None, call.id or None)


def _ran(work: TurnSpans) -> list[MatchedCall]:
    ran: list[MatchedCall] = []
    known: dict[int, MatchedCall] = {}
    sources = work.sources
    for reading in work.tools:
        span, place = reading.span, reading.place
        tool = reading.convention.tool(span)
        name = tool.name
        if name is None:
            continue
        if place.tool is not None and (outer := known.get(id(place.tool))) and outer.name == name:
            known[id(reading)] = outer
            _complete(outer, tool, reading)
            continue
        agent = place.worker or agent_of(reading, work)
        made = MatchedCall(name, None, agent, span.start, None, tool, reading, None, tool.id)
        ran.append(made)
        known[id(reading)] = made
        if "tool_args" not in sources and tool.args_key and tool.recorded is not None:
            sources["tool_args"] = tool.args_key
        if "tool_results" not in sources and tool.output_key and tool.output is not None:
            sources["tool_results"] = tool.output_key
    return ran


def _complete(outer: MatchedCall, tool: ToolSpan, reading: RoleSpan) -> None:
    """A tool within a tool of its own name is the same call, told by another recorder."""
    told = outer.tool
    if told is None or outer.reading is None:
        return
    told.id = outer.id = outer.id or tool.id
    if told.recorded is None:
        told.recorded, told.args_key = tool.recorded, tool.args_key
    if told.output is None:
        told.output, told.output_key = tool.output, tool.output_key
    if failure_reason(outer.reading.span) is None and failure_reason(reading.span) is not None:
        outer.reading = reading


def _is_whole(one: MatchedCall) -> bool:
    return one.id is not None and one.tool is not None and one.tool.recorded is not None


def _requests(ran: list[MatchedCall]) -> list[MatchedCall]:
    """Takes out the spans that only tell what a model asked for."""
    found = [one for one in ran if one.tool and one.tool.requested]
    ran[:] = [one for one in ran if not (one.tool and one.tool.requested)]
    return [
        MatchedCall(
            one.name,
            CallBlock(one.name, one.args, one.id),
            one.agent,
            one.start,
            one.reading,
            id=one.id,
        )
        for one in found
    ]


def _told_by_agents(work: TurnSpans) -> tuple[list[MatchedCall], list[ResultBlock]]:
    """Calls that only the agents' own messages tell; what several tell counts once."""
    asked: list[MatchedCall] = []
    results: list[ResultBlock] = []
    known: set[str | None] = {None}
    first = work.first_agent or work.owner
    for agent in work.owners:
        found = _run_messages(agent) if agent is first or agent.role == "agent" else None
        said = _since_user(found[1]) if found else []
        calls = [call for one in said for call in one.calls]
        if agent is not first:
            calls = [call for call in calls if call.id not in known]
        asked += [_wanted(call, agent.name, agent.span.start, agent) for call in calls]
        known.update(call.id for call in calls)
        results += [result for one in said for result in one.results]
        if found and calls:
            work.sources.setdefault("tool_calls", found[0])
    return asked, results


def _run_messages(owner: RoleSpan) -> tuple[str, list[Message]] | None:
    found = owner.answered()
    if found is not None and any(said.calls for said in found[1]):
        return found
    return owner.convention.transcript(owner.span)


def _since_user(said: list[Message]) -> list[Message]:
    for at in range(len(said) - 1, -1, -1):
        if said[at].role == "user" and said[at].text is not None and not said[at].results:
            return said[at + 1 :]
    return said


def _answer(made: list[MatchedCall], results: list[ResultBlock], work: TurnSpans) -> None:
    """Results that no tool's span tells, out of the messages that carry them back."""
    missing = [one for one in made if one.tool is None or not _is_answered(one.tool)]
    if not missing:
        return
    known = {one.id for one in made} | {one.call.id for one in made if one.call}
    _Waiting(missing, known).assign(results)
    left = [one for one in missing if one.result is None and one.asker is not None]
    waiting = _Waiting(left, known)
    for model in _last_models(work):
        if _first(waiting.calls, model.outer) is None:
            continue
        for at, (key, told) in enumerate(_told_to(model)):
            if at:  # OpenInference tells only in the whole request that a tool failed
                waiting.blame(told)
            else:
                waiting.assign(told, model.outer)
                work.sources.setdefault("tool_results", key)
    for one in missing:
        if one.tool is not None and one.result is not None:
            one.tool.output = None


def _is_answered(tool: ToolSpan) -> bool:
    """Whether the span tells the result itself, not merely which object it was."""
    told = tool.output
    return told is not None and not (isinstance(told.value, str) and is_printed_object(told.value))


def _told_to(model: ModelSpans) -> Iterator[tuple[str, list[ResultBlock]]]:
    """The results that a model was told since the user spoke, by every source that has some.

    After the first, only sources that tell of errors.
    """
    known = False
    for reading in model.parts:
        first = reading.asked()
        if first is None:
            continue
        if told := _told_since_user(first[1]):
            known = True
            yield first[0], told
        for source in reading.convention.inputs_of(reading.span):
            value = reading.span.attributes.get(source.key)
            if source.key == first[0] or (known and not (value and _ERROR in to_text(value))):
                continue
            if told := _told_since_user(source.read(reading.span) or []):
                known = True
                yield source.key, told


def _told_since_user(said: list[Message]) -> list[ResultBlock]:
    return [result for one in _since_user(said) for result in one.results]


def _last_models(work: TurnSpans) -> list[ModelSpans]:
    last = {id(model.outer.place.agent): model for model in work.models}
    return list(last.values())


class _Waiting:
    """Calls without a result, by id and by name: none is looked at once for every model call."""

    def __init__(self, calls: list[MatchedCall], known: set[str | None]) -> None:
        self.calls = deque(calls)
        self.known = known
        self.by_id: dict[str, list[MatchedCall]] = {}
        self.by_name: dict[str | None, deque[MatchedCall]] = {}
        for one in calls:
            for key in {one.id, one.call.id if one.call else None}:
                if key is not None:
                    self.by_id.setdefault(key, []).append(one)
            self.by_name.setdefault(one.name, deque()).append(one)

    def assign(self, results: list[ResultBlock], asker: RoleSpan | None = None) -> None:
        """By id, else by name and order; a model is not told the results of its own calls."""
        told: dict[str, list[ResultBlock]] = {}
        loose: list[ResultBlock] = []
        for result in results:
            if result.id is not None and result.id in self.known:
                told.setdefault(result.id, []).append(result)
            elif result.name is None:
                loose.append(result)
            elif (calls := self.by_name.get(result.name)) and (one := _first(calls, asker)):
                one.result = result
        for key, found in told.items():
            # An id that counts the calls of a message comes back with each message.
            calls = self.by_id.get(key, ())
            for at, one in enumerate(call for call in calls if _is_open(call, asker)):
                one.result = found[min(at, len(found) - 1)]
        self._assign_loose(loose, asker)

    def blame(self, results: list[ResultBlock]) -> None:
        """Which of the results are errors, by another source of the same."""
        for result in results:
            for one in self.by_id.get(result.id or "", ()) if result.error else ():
                if one.result is not None:
                    one.result.error = True

    def _assign_loose(self, loose: list[ResultBlock], asker: RoleSpan | None) -> None:
        """Results that name nothing that was asked for, by order if each call can have its own."""
        calls = [one for one in self.calls if _is_open(one, asker)] if loose else []
        if asker is not None:  # an agent is told what its own calls gave
            agent = asker.place.agent
            calls = [one for one in calls if one.asker and one.asker.place.agent is agent]
        if len(calls) == len(loose):
            for one, result in zip(calls, loose, strict=True):
                one.result = result


def _first(calls: deque[MatchedCall], asker: RoleSpan | None) -> MatchedCall | None:
    while calls and calls[0].result is not None:
        calls.popleft()
    return next((one for one in calls if _is_open(one, asker)), None)


def _is_open(one: MatchedCall, asker: RoleSpan | None) -> bool:
    return one.result is None and (asker is None or one.asker is not asker)
