"""Turns out of the parts that spans play: the one engine behind all conventions."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from karat.schema import Json, Message, ModelCall, Span, Turn, Usage
from karat.traces.conventions import messages
from karat.traces.conventions.decoding import text
from karat.traces.conventions.joining import Made, join
from karat.traces.conventions.messages import Result, Said
from karat.traces.conventions.reading import Reading
from karat.traces.conventions.reprs import is_object
from karat.traces.conventions.tools import failure


class Model(msgspec.Struct, eq=False, gc=False):
    """One model call, however many spans recorded it."""

    parts: list[Reading]
    """The outermost span first."""
    agent: str | None
    said: list[Said]
    """What it answered; empty if that is not recorded."""
    key: str | None

    @property
    def outer(self) -> Reading:
        return self.parts[0]


class Work(msgspec.Struct, eq=False, gc=False):
    """The parts of one turn, sorted by role."""

    roots: list[Span]
    owners: list[Reading]
    """Agents and workflows."""
    models: list[Model]
    tools: list[Reading]
    chains: list[Reading]
    retrievers: list[Reading]
    sources: dict[str, str]

    @property
    def owner(self) -> Reading | None:
        """The earliest agent or workflow."""
        return self.owners[0] if self.owners else None

    @property
    def first_agent(self) -> Reading | None:
        """The earliest agent that is no mere wrapper."""
        for reading in self.owners:
            if reading.role == "agent":
                return reading
        return None

    @property
    def last_agent(self) -> Reading | None:
        """The agent that ends last of those that speak for themselves rather than as a tool.

        Not the one that starts last: an agent that is used as a tool may be recorded beside the one
        that uses it, and starts later but has no say in the end.
        """
        agents = [one for one in self.owners if one.role == "agent" and one.inside is None]
        return max(agents, key=lambda one: one.span.end or 0, default=None)


def sort(readings: list[Reading]) -> Work:
    """The parts by role; spans that recorded the same model call become one."""
    work = Work([], [], [], [], [], [], {})
    parts: dict[int, list[Reading]] = {}
    for reading in readings:
        role = reading.role
        if role == "model":
            if reading.model is None:
                parts[id(reading)] = [reading]
            else:
                parts.setdefault(id(reading.model), [reading.model]).append(reading)
        elif role == "tool":
            work.tools.append(reading)
        elif role == "chain":
            work.chains.append(reading)
        elif role == "retriever":
            work.retrievers.append(reading)
        else:
            work.owners.append(reading)
    work.models = [_model(part, work) for part in parts.values()]
    if not work.owners:
        work.roots = list({id(reading.root): reading.root for reading in readings}.values())
    return work


def turn(work: Work) -> Turn:
    """What the user said, what was done, what was answered."""
    sources = work.sources
    made = _made(work)
    user = _noted(sources, "user", _user(work))
    response = _noted(sources, "response", _response(work))
    spans = [work.owner.span] if work.owner else work.roots
    results = tuple(result for one in made if (result := one.to_result()))
    return Turn(
        user=user,
        response=response,
        tool_calls=tuple(one.to_call() for one in made) if made or _is_told(work) else None,
        tool_results=results,
        messages=_messages(work, response),
        agents=_agents(work),
        model_calls=_model_calls(work),
        grounding=_grounding(work),
        error=_error(work, response),
        start=spans[0].start,
        end=max((span.end for span in spans if span.end is not None), default=None),
    )


def _noted(sources: dict[str, str], field: str, found: tuple[str, str] | None) -> str | None:
    if found is None:
        return None
    sources.setdefault(field, found[0])
    return found[1]


def _model(parts: list[Reading], work: Work) -> Model:
    key, said = None, list[Said]()
    for reading in parts:
        found = reading.convention.answered(reading.span)
        if found is not None:
            key, said = found
            break
    return Model(parts, _worker(parts[0], work), said, key)


def _worker(reading: Reading, work: Work) -> str | None:
    """The agent that a span works for: the one around it, else the one it names or overlaps."""
    around = reading.agent
    while around is not None and (around.name is None or around.role != "agent"):
        around = around.agent
    if around is not None:
        return around.name
    if named := text(reading.span.attributes.get("gen_ai.agent.name")):
        return named
    start = reading.span.start
    for agent in reversed(work.owners):
        if agent.role == "agent" and _spans(agent.span, start):
            return agent.name
    return _workflow_name(work)


def _spans(span: Span, time: int | None) -> bool:
    if time is None or span.start is None or span.end is None:
        return False
    return span.start <= time <= span.end


def _workflow_name(work: Work) -> str | None:
    if any(reading.role == "agent" and reading.name for reading in work.owners):
        return None
    return next((reading.name for reading in work.owners if reading.name), None)


def _made(work: Work) -> list[Made]:
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
        for said in model.said:
            for call in said.calls:
                start = model.outer.span.start
                asked.append(Made(call.name, call, model.agent, start, model.outer))
            results.extend(said.results)
        if asked and model.key:
            work.sources.setdefault("tool_calls", model.key)
    return asked, results


def _ran(work: Work) -> list[Made]:
    ran: list[Made] = []
    names: dict[int, str | None] = {}
    for reading in work.tools:
        tool = reading.convention.tool(reading.span)
        names[id(reading)] = tool.name
        if tool.name is None:
            continue
        # A tool within a tool of its own name is the same call, told by another recorder.
        if reading.tool is not None and names.get(id(reading.tool)) == tool.name:
            continue
        agent = _worker(reading, work)
        ran.append(Made(tool.name, None, agent, reading.span.start, None, tool, reading))
        if tool.args_key and tool.recorded is not None:
            work.sources.setdefault("tool_args", tool.args_key)
        if tool.answer_key and tool.answer is not None:
            work.sources.setdefault("tool_results", tool.answer_key)
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
        asked.extend(Made(c.name, c, owner.name, owner.span.start, owner) for c in said.calls)
        results.extend(said.results)
    if asked:
        work.sources.setdefault("tool_calls", found[0])
    return asked, results


def _run_messages(owner: Reading) -> tuple[str, list[Said]] | None:
    found = owner.convention.answered(owner.span)
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
    _assign(missing, results)
    for model in _last_models(work):
        open_ = [
            one
            for one in missing
            if one.result is None and one.asker is not None and one.asker is not model.outer
        ]
        if not open_:
            continue
        for reading in model.parts:
            found = reading.convention.asked(reading.span)
            if found is not None:
                _assign(open_, [r for said in _since_user(found[1]) for r in said.results])
                work.sources.setdefault("tool_results", found[0])
                break


def _last_models(work: Work) -> list[Model]:
    last = {id(model.outer.agent): model for model in work.models}
    return list(last.values())


def _assign(missing: list[Made], results: list[Result]) -> None:
    by_id = {result.id: result for result in results if result.id}
    by_name: dict[str | None, list[Result]] = {}
    for result in results:
        if not result.id:
            by_name.setdefault(result.name, []).append(result)
    for one in missing:
        if one.id is not None and one.id in by_id:
            one.result = by_id[one.id]
        elif by_name.get(one.name):
            one.result = by_name[one.name].pop(0)


def _user(work: Work) -> tuple[str, str] | None:
    """By the owner, else by the first model call, else by the run's messages or any step."""
    near = [reading for reading in (work.owner, work.first_agent) if reading is not None]
    for reading in near[:1] if len(near) == 2 and near[0] is near[1] else near:
        found = reading.convention.user(reading.span)
        if found is not None and not is_object(found[1]):
            return found
    for model in work.models[:1]:
        for reading in model.parts:
            if found := reading.convention.user(reading.span):
                return found
    for reading in near:
        found = reading.convention.transcript(reading.span)
        if found is not None and (said := messages.last_user(found[1])) is not None:
            return found[0], said
    for reading in work.chains[:1]:
        if found := reading.convention.user(reading.span):
            return found
    return None


def _response(work: Work) -> tuple[str, str] | None:
    """By the owner, else by the last model call that is no tool's, else by any step."""
    found = _owner_response(work)
    if found is not None and found[1] and not is_object(found[1]):
        return found
    empty = found
    for model in reversed(work.models):
        if model.outer.inside is None:
            said = messages.last_answer(model.said)
            if said:
                return model.key or "", said
            if said is not None:
                empty = empty or (model.key or "", said)
    return _raw_response(work) or empty


def _owner_response(work: Work) -> tuple[str, str] | None:
    empty = None
    seen: list[Reading] = []
    for reading in (work.owner, work.last_agent):
        if reading is None or reading in seen:
            continue
        seen.append(reading)
        found = reading.convention.response(reading.span)
        if found is not None and found[1] and not is_object(found[1]):
            return found
        empty = empty or found
    return empty


def _raw_response(work: Work) -> tuple[str, str] | None:
    owner = work.owner
    if owner is not None and (raw := owner.convention.raw_answer(owner.span)):
        return raw
    for reading in work.chains[:1]:
        if found := reading.convention.response(reading.span):
            return found
    return None


def _is_told(work: Work) -> bool:
    """Whether no calls means that none were made, rather than that none were recorded."""
    return bool(work.owners) or any(model.said for model in work.models)


def _messages(work: Work, response: str | None) -> tuple[Message, ...]:
    """What was said on the way; the response itself is not on the way."""
    found = [
        Message(agent=model.agent or "", text=said.text)
        for model in work.models
        for said in model.said
        if said.text and said.role == "assistant" and not said.text.isspace()
    ]
    if found and response is not None and found[-1].text.strip() == response.strip():
        found.pop()
    return tuple(found)


def _agents(work: Work) -> tuple[str, ...]:
    """Agents by start; one that acts again after another has ended is named again."""
    agents = [reading for reading in work.owners if reading.role == "agent" and reading.name]
    if not agents:
        names = [_workflow_name(work), *(model.agent for model in work.models)]
        return _collapsed(name for name in names if name)
    if len(agents) == 1:
        return (agents[0].name or "",)
    steps = [(reading.span.start or 0, 0, reading.name, reading.span.end) for reading in agents]
    steps += [(model.outer.span.start or 0, 1, model.agent, None) for model in work.models]
    found: list[str] = []
    ended = 0
    for start, kind, name, end in sorted(steps, key=lambda step: step[:2]):
        if not name or (found and found[-1] == name):
            continue
        if kind == 0:
            ended = end or 0
        elif start < ended:
            continue
        found.append(name)
    return tuple(found)


def _collapsed(names: Iterable[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        if not found or found[-1] != name:
            found.append(name)
    return tuple(found)


def _model_calls(work: Work) -> tuple[ModelCall, ...]:
    if work.models:
        return tuple(call for model in work.models for call in _leaves(model))
    # Without a single model call the agent's own count is all there is.
    for owner in (work.owner, work.first_agent):
        usage = owner.convention.usage(owner.span) if owner else Usage()
        if owner is not None and usage != Usage():
            return (_summed(owner, usage),)
    return ()


def _summed(owner: Reading, usage: Usage) -> ModelCall:
    span = owner.span
    model = owner.convention.model(span)
    return ModelCall(model=model, usage=usage, agent=owner.name, start=span.start, end=span.end)


def _leaves(model: Model) -> Iterable[ModelCall]:
    leaves = [reading for reading in model.parts if reading.leaf]
    if len(leaves) == 1:
        yield _model_call(model, leaves[0], model.parts)
        return
    for leaf in leaves:
        yield _model_call(model, leaf, [leaf])


def _model_call(model: Model, leaf: Reading, parts: list[Reading]) -> ModelCall:
    """The tokens of the innermost span that counts them, the rest from the outermost that tells."""
    usage = leaf.convention.usage(leaf.span)
    for reading in reversed(parts):
        if usage.input_tokens is not None or usage.output_tokens is not None:
            break
        usage = reading.convention.usage(reading.span)
    name = provider = finish = None
    for reading in parts:
        name = name or reading.convention.model(reading.span)
        provider = provider or reading.convention.provider(reading.span)
        finish = finish or reading.convention.finish(reading.span)
    span = leaf.span
    return ModelCall(
        model=name,
        provider=provider,
        usage=usage,
        agent=model.agent,
        finish_reason=finish or next((said.finish for said in model.said if said.finish), None),
        error=failure(span) if span.status == "error" else None,
        start=span.start,
        end=span.end,
    )


def _grounding(work: Work) -> tuple[Json, ...] | None:
    if not work.retrievers:
        return None
    found: list[Json] = []
    for reading in work.retrievers:
        attributes = reading.span.attributes
        at = 0
        while (key := f"retrieval.documents.{at}.document.content") in attributes:
            found.append(attributes[key])
            at += 1
    return tuple(found) or None


def _error(work: Work, response: str | None) -> str | None:
    owner = work.owner.span if work.owner else work.roots[0]
    if owner.status == "error":
        return failure(owner) or "the agent failed"
    last = work.models[-1].outer.span if work.models else None
    if response is None and last is not None and last.status == "error":
        return failure(last) or "the model call failed"
    return None
