"""The tool calls of a turn: asked for by models, run by tools, told by messages."""

from __future__ import annotations

from collections import deque

from karat.traces.conventions.joining import Made, join
from karat.traces.conventions.reading import Reading
from karat.traces.conventions.said import Call, Result, Said
from karat.traces.conventions.work import Model, Work, worker


def tool_calls(work: Work) -> list[Made]:
    asked, results = _asked(work)
    ran = _ran(work)
    if not asked and not ran:
        asked, results = _told_by_owner(work)
    made = join(asked, ran)
    _answer(made, results, work)
    return made


def _asked(work: Work) -> tuple[list[Made], list[Result]]:
    asked: list[Made] = []
    results: list[Result] = []
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
    return asked, results


def _wanted(call: Call, agent: str | None, start: int | None, asker: Reading) -> Made:
    return Made(call.name, call, agent, start, asker, None, None, None, call.id or None)


def _ran(work: Work) -> list[Made]:
    ran: list[Made] = []
    names: dict[int, str | None] = {}
    sources = work.sources
    for reading in work.tools:
        span, place = reading.span, reading.place
        tool = reading.convention.tool(span)
        name = names[id(reading)] = tool.name
        # A tool within a tool of its own name is the same call, told by another recorder.
        if name is None or (place.tool is not None and names.get(id(place.tool)) == name):
            continue
        agent = place.worker or worker(reading, work)
        ran.append(Made(name, None, agent, span.start, None, tool, reading, None, tool.id))
        if "tool_args" not in sources and tool.args_key and tool.recorded is not None:
            sources["tool_args"] = tool.args_key
        if "tool_results" not in sources and tool.answer_key and tool.answer is not None:
            sources["tool_results"] = tool.answer_key
    return ran


def _told_by_owner(work: Work) -> tuple[list[Made], list[Result]]:
    """Calls that only the agent's own messages tell."""
    asked: list[Made] = []
    results: list[Result] = []
    owner = work.first_agent or work.owner
    found = _run_messages(owner) if owner else None
    if owner is None or found is None:
        return asked, results
    for said in _since_user(found[1]):
        start = owner.span.start
        asked += [_wanted(call, owner.name, start, owner) for call in said.calls]
        results.extend(said.results)
    if asked:
        work.sources.setdefault("tool_calls", found[0])
    return asked, results


def _run_messages(owner: Reading) -> tuple[str, list[Said]] | None:
    found = owner.answered()
    if found is not None and any(said.calls for said in found[1]):
        return found
    return owner.convention.transcript(owner.span)


def _since_user(said: list[Said]) -> list[Said]:
    for at in range(len(said) - 1, -1, -1):
        if said[at].role == "user" and said[at].text is not None and not said[at].results:
            return said[at + 1 :]
    return said


def _answer(made: list[Made], results: list[Result], work: Work) -> None:
    """Results that no tool's span tells, out of the messages that carry them back."""
    missing = [one for one in made if one.tool is None or one.tool.answer is None]
    if not missing:
        return
    _Waiting(missing).assign(results)
    waiting = _Waiting([one for one in missing if one.result is None and one.asker is not None])
    for model in _last_models(work):
        if _first(waiting.calls, model.outer) is None:
            continue
        for reading in model.parts:
            found = reading.asked()
            if found is not None:
                told = [result for said in _since_user(found[1]) for result in said.results]
                waiting.assign(told, model.outer)
                work.sources.setdefault("tool_results", found[0])
                break


def _last_models(work: Work) -> list[Model]:
    last = {id(model.outer.place.agent): model for model in work.models}
    return list(last.values())


class _Waiting:
    """Calls without a result, by id and by name: none is looked at once for every model call."""

    def __init__(self, calls: list[Made]) -> None:
        self.calls = deque(calls)
        self.by_id: dict[str, list[Made]] = {}
        self.by_name: dict[str | None, deque[Made]] = {}
        for one in calls:
            if one.id is not None:
                self.by_id.setdefault(one.id, []).append(one)
            self.by_name.setdefault(one.name, deque()).append(one)

    def assign(self, results: list[Result], asker: Reading | None = None) -> None:
        """By id, else by name and order; a model is not told the results of its own calls."""
        for key, result in {result.id: result for result in results if result.id}.items():
            for one in self.by_id.get(key, ()):
                if _is_open(one, asker):
                    one.result = result
        for result in results:
            calls = None if result.id else self.by_name.get(result.name)
            if calls and (one := _first(calls, asker)):
                one.result = result


def _first(calls: deque[Made], asker: Reading | None) -> Made | None:
    while calls and calls[0].result is not None:
        calls.popleft()
    return next((one for one in calls if _is_open(one, asker)), None)


def _is_open(one: Made, asker: Reading | None) -> bool:
    return one.result is None and (asker is None or one.asker is not asker)
