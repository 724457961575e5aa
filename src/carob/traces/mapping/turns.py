"""Build turns from grouped spans: the engine behind all conventions."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from carob.schema import AgentMessage, Json, Turn
from carob.traces.mapping.evidence import find_missing_calls
from carob.traces.mapping.model_calls import find_model_calls
from carob.traces.mapping.roles import RoleSpan, covers
from carob.traces.mapping.splitting import asks_several
from carob.traces.mapping.tool_calls import find_tool_calls
from carob.traces.mapping.turn_errors import find_error, find_step_error
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans, workflow_name
from carob.traces.messages.frames import unframe_user
from carob.traces.messages.message import Message, last_answer, last_user
from carob.traces.messages.printed import is_printed_message, is_printed_object

NO_RESPONSE = "the response was not recorded"
SEVERAL_QUESTIONS = "model calls received unrelated questions, and the agent's own was not recorded"
LAST_REQUEST = "one span records several model calls, and only the last of them is left"
_NO_TIME = 1 << 63
_FIRST_DOCUMENT = "retrieval.documents.0.document.content"
_PRINTED_DOCUMENT = "[Document(metadata="
_NO_ANSWERS = ("null", "__end__")
"""What the last step of a graph returns in place of an answer."""
_QUOTED = 200
"""Characters of a document that are looked for in a prompt."""


def build_turn(turn: TurnSpans) -> Turn:
    """Build a turn: the user's text, what the agents did, and the response."""
    sources = turn.sources
    calls = find_tool_calls(turn)
    missing = find_missing_calls(turn, calls)
    if missing is not None:
        turn.gaps["tool_calls"] = missing
    if any(map(_is_overwritten, turn.tools)):
        turn.gaps["usage"] = LAST_REQUEST
    user = _note_source(sources, "user", _find_user_text(turn))
    response = _note_source(sources, "response", _find_response(turn))
    error = find_error(turn, response or None)
    if error is not None and not response:
        response = None  # what a run that failed leaves empty is no answer
    if turn.is_asked_by_model and turn.owner and asks_several(turn.main_models, user):
        turn.gaps["user"] = turn.gaps["response"] = SEVERAL_QUESTIONS
    if response is None and error is None:
        turn.gaps["response"] = NO_RESPONSE
    start, end = _times(turn)
    return Turn(
        user=user,
        response=response,
        tool_calls=tuple([call.to_call() for call in calls]) if missing is None else None,
        tool_results=tuple([result for call in calls if (result := call.to_result())]),
        messages=_intermediate_messages(turn, response),
        agents=_agent_names(turn),
        model_calls=find_model_calls(turn),
        grounding=_grounding(turn),
        error=error,
        start=start,
        end=end,
    )


def _is_overwritten(tool: RoleSpan) -> bool:
    """Whether the model call around a tool received the result of that tool: then the request that
    called the tool was recorded in the same span, and was overwritten."""
    model = tool.context.inner_model
    if model is None or not model.is_leaf or (received := model.input_messages()) is None:
        return False
    if requests := model.requests():
        return len(requests) <= _count_replies(received[1])
    called = tool.convention.tool(tool.span)
    if called.id is not None:
        return any(result.id == called.id for item in received[1] for result in item.results)
    output = model.output_messages()
    requested = {call.name for item in (output[1] if output else ()) for call in item.calls}
    return bool(received[1] and received[1][-1].results) and called.name not in requested


def _has_received(tool: RoleSpan) -> bool:
    """Whether the model call around a tool received its result."""
    model = tool.context.inner_model
    received = model.input_messages() if model is not None else None
    if received is None or (call_id := tool.convention.tool(tool.span).id) is None:
        return False
    return any(result.id == call_id for message in received[1] for result in message.results)


def _count_replies(messages: list[Message]) -> int:
    """How often the model called tools since the user's last message."""
    replies = 0
    for message in reversed(messages):
        if message.role == "user" and not message.results:
            break
        replies += bool(message.calls)
    return replies


def _times(turn: TurnSpans) -> tuple[int | None, int | None]:
    """The start and end of the owner, else of the roots, else of everything that has a time."""
    if turn.owner and turn.owner.span.start is not None:
        return turn.owner.span.start, turn.owner.span.end
    spans = [turn.owner.span] if turn.owner else turn.roots
    if spans[0].start is None:
        parts = [*turn.owners, *(model.outer for model in turn.models), *turn.tools]
        spans = sorted((part.span for part in parts), key=lambda span: span.start or _NO_TIME)
    end = max((span.end for span in spans if span.end is not None), default=None)
    return spans[0].start, end


def _note_source(sources: dict[str, str], field: str, text: tuple[str, str] | None) -> str | None:
    if text is None:
        return None
    sources.setdefault(field, text[0])
    return text[1]


def _find_user_text(turn: TurnSpans) -> tuple[str, str] | None:
    """The user's text and its source: of the outermost span that has it, else of the first model
    call, else of the run's messages, else of the first step."""
    outer = _outer_spans(turn, turn.first_agent)
    first = next(iter(turn.main_models or turn.models), None)
    for role_spans in (outer, first.spans) if first else (outer,):
        for role_span in role_spans:
            text = role_span.user_text()
            if text is None or is_printed_object(text[1]):
                continue
            if role_spans is not outer and _quotes_documents(text[1], turn):
                return None  # a prompt that a program made from what the user asked
            turn.is_asked_by_model = role_spans is not outer
            return text
    for role_span in outer:
        transcript = role_span.convention.transcript_messages(role_span.span)
        last = last_user(transcript[1]) if transcript is not None else None
        if transcript and last is not None and (asked := unframe_user(last)) is not None:
            return transcript[0], asked
    for step in _steps(turn)[:1]:
        return step.user_text()
    return None


def _quotes_documents(text: str, turn: TurnSpans) -> bool:
    """Whether a text contains what was retrieved, or LangChain's printed documents."""
    return _PRINTED_DOCUMENT in text or any(
        isinstance(content := retriever.span.attributes.get(_FIRST_DOCUMENT), str)
        and content[:_QUOTED] in text
        for retriever in turn.retrievers
    )


def _steps(turn: TurnSpans) -> list[RoleSpan]:
    """The steps right below the owner."""
    parent = turn.owner.span.span_id if turn.owner else None
    return [chain for chain in turn.chains if parent and chain.span.parent_id == parent]


def _outer_spans(turn: TurnSpans, agent: RoleSpan | None) -> list[RoleSpan]:
    """The spans around the work of a turn, the outermost first."""
    spans: list[RoleSpan] = []
    for span in (turn.front, turn.owner, agent):
        if span is not None and span not in spans:
            spans.append(span)
    return spans


def _find_response(turn: TurnSpans) -> tuple[str, str] | None:
    """The response and its source: of the outermost span that has it, else of the last model call
    that does not work for a tool. An empty response counts only if there is no other."""
    empty = None
    for role_span in _outer_spans(turn, turn.last_agent):
        if _has_ended_before_last_call(role_span, turn) or _is_without_models(role_span, turn):
            continue
        text = role_span.convention.response_text(role_span.span)
        if text is not None and text[1] and not is_printed_object(text[1]):
            return text
        empty = empty or text
    text = _model_response(turn)
    if text and turn.front is not None and _answers_otherwise(turn.front, text[1]):
        return None
    return text if text and text[1] else _raw_response(turn) or text or empty


def _answers_otherwise(front: RoleSpan, answer: str) -> bool:
    """Whether the outermost step returned something in which an answer does not occur: then the
    model call was a router's or a summary's, and the response is somewhere in what was returned."""
    raw = front.convention.raw_output(front.span)
    if raw is None or not raw[1].startswith(("{", "[")):
        return False
    written = msgspec.json.encode(answer).decode()[1:-1]
    return bool(answer) and answer not in raw[1] and written not in raw[1]


def _is_without_models(agent: RoleSpan, turn: TurnSpans) -> bool:
    """Whether model calls are recorded below the front, but none of them within an agent: then it
    is a step that only has the word `agent` in its name, such as a router's."""
    if turn.front is None or agent.role != "agent" or not turn.models:
        return False
    return not any(
        model.outer.context.agent is agent or covers(agent.span, model.outer.span.start)
        for model in turn.models
    )


def _has_ended_before_last_call(role_span: RoleSpan, turn: TurnSpans) -> bool:
    """Whether a model call after a span shows that another agent went on."""
    models, end = turn.main_models, role_span.span.end
    return end is not None and bool(models) and (models[-1].outer.span.start or 0) > end


def _model_response(turn: TurnSpans) -> tuple[str, str] | None:
    """The answer of the last model call. If that is not recorded, or calls a tool, no earlier text
    is the response: the agent went on after it."""
    models = turn.main_models
    last = models[-1] if models else None
    for before in reversed(models[:-1]):
        if last is None or last.messages or not covers(before.outer.span, last.outer.span.start):
            break
        last = before  # a second recorder beside the first records no messages
    if last is None or (last.messages and last.messages[-1].calls) or _is_followed(last, turn):
        return None
    if find_step_error(turn, last.outer.span) is not None:
        return None  # such as a guardrail: the answer was not returned
    answer = last_answer(last.messages)
    if answer is not None and is_printed_message(answer):
        return None
    return None if answer is None else (last.source or "", answer)


def _is_followed(model: ModelSpans, turn: TurnSpans) -> bool:
    """Whether another agent started after a model call: what it said is not recorded."""
    end = model.outer.span.end
    return end is not None and any(
        agent.role == "agent"
        and (agent.span.start or 0) > end
        and agent.name != model.agent
        and not turn.is_in_tool(agent)
        for agent in turn.owners[1:]
    )


def _raw_response(turn: TurnSpans) -> tuple[str, str] | None:
    """An output that is not a message: of the owner, else of the last step right below it."""
    owner = turn.owner
    if owner is None or _has_ended_before_last_call(owner, turn):
        return None
    if raw := owner.convention.raw_output(owner.span):
        return raw
    steps = _steps(turn)
    text = steps[-1].convention.response_text(steps[-1].span) if steps else None
    return None if text is None or text[1] in _NO_ANSWERS else text


def _intermediate_messages(turn: TurnSpans, response: str | None) -> tuple[AgentMessage, ...]:
    """The texts of the models, without the response itself."""
    messages = [
        AgentMessage(model.agent or "", message.text)
        for model in turn.models
        for message in model.messages
        if message.text and message.role == "assistant" and not message.text.isspace()
    ]
    if messages and response is not None and messages[-1].text.strip() == response.strip():
        messages.pop()
    return tuple(messages)


def _agent_names(turn: TurnSpans) -> tuple[str, ...]:
    """The agents in order of start; an agent that acts again after another is named again."""
    agents = [owner for owner in turn.owners if owner.role == "agent" and owner.name]
    if turn.is_team:
        teams = {agent.name for agent in agents if agent.context.outer_agent is None}
        agents = [agent for agent in agents if agent.name not in teams]
    if not agents:
        candidates = [model.agent for model in turn.models]
        if not any(candidates):
            candidates = [workflow_name(turn), *(chain.name for chain in turn.chains)]
        return _without_repeats(name for name in candidates if name)
    if len({*[agent.name for agent in agents], *[model.agent for model in turn.models]}) == 1:
        return (agents[0].name or "",)
    steps = [(agent.span.start or 0, 0, agent.name, agent.span.end) for agent in agents]
    steps += [(model.outer.span.start or 0, 1, model.agent, None) for model in turn.models]
    # The agent of a model call around a tool acts again if that call received the tool's result.
    continued = {id(tool.context.inner_model) for tool in turn.tools if _has_received(tool)}
    steps += [
        (model.outer.span.end or 0, 1, model.agent, None)
        for model in turn.models
        if id(model.outer) in continued
    ]
    # A model call shows that its agent acts again after another one. It does not while the agent
    # that started last is still running: then the two overlap. That does not hold for agents that
    # only their model calls name.
    spans = {agent.name for agent in agents}
    names: list[str] = []
    last_end = 0
    for start, kind, name, end in sorted(steps, key=lambda step: step[:2]):
        if not name or (names and names[-1] == name):
            continue
        if kind == 0:
            last_end = end or 0
        elif start < last_end and name in spans:
            continue
        names.append(name)
    return tuple(names)


def _without_repeats(names: Iterable[str]) -> tuple[str, ...]:
    distinct: list[str] = []
    for name in names:
        if not distinct or distinct[-1] != name:
            distinct.append(name)
    return tuple(distinct)


def _grounding(turn: TurnSpans) -> tuple[Json, ...] | None:
    chunks: list[Json] = []
    for retriever in turn.retrievers:
        attributes = retriever.span.attributes
        index = 0
        while (key := f"retrieval.documents.{index}.document.content") in attributes:
            chunks.append(attributes[key])
            index += 1
    for model in turn.models:
        chunks += model.outer.convention.grounding(model.outer.span)
    return tuple(chunks) or None
