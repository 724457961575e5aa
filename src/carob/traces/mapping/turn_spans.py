"""Group the spans of one turn by role, and find the agent that each works for."""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from carob.schema import Span
from carob.traces.mapping.graphs import graph_node
from carob.traces.mapping.roles import RoleSpan, covers
from carob.traces.messages.message import Message, last_answer
from carob.traces.messages.printed import is_printed_object
from carob.traces.shape import text_or_none

_RESPONSE_ID = re.compile(r'\{\s*"id":\s*"([^"]{1,200})"')
"""The id at the beginning of a recorded response."""
_MAX_PARALLEL = 8
"""Model calls before another one that may be the same call."""
_MAX_OWNERS = 64
"""Spans that started before another and are compared with it."""


class ModelSpans(msgspec.Struct, eq=False, gc=False):
    """One model call, which several spans may record."""

    outer: RoleSpan
    spans: list[RoleSpan]
    """All spans that record it, the outermost first."""
    agent: str | None
    messages: list[Message]
    """The messages that the model returned; empty if they are not recorded."""
    source: str | None


class TurnSpans(msgspec.Struct, eq=False, gc=False):
    """The spans of one turn, grouped by role."""

    roots: list[Span] = []
    owners: list[RoleSpan] = []
    """Agents and workflows."""
    owner: RoleSpan | None = None
    """The earliest owner, not counting agents that are used as tools."""
    models: list[ModelSpans] = []
    main_models: list[ModelSpans] = []
    """The model calls that do not work for a tool."""
    tools: list[RoleSpan] = []
    chains: list[RoleSpan] = []
    retrievers: list[RoleSpan] = []
    counters: list[RoleSpan] = []
    """All that may count tokens, except for the innermost spans of model calls."""
    front: RoleSpan | None = None
    """The step around everything, if it received the user's text itself."""
    sources: dict[str, str] = {}
    used_agents: set[int] = set()
    """The ids of the agents that a tool uses, in it or while it runs."""
    unnamed_tools: int = 0
    """Tool spans that do not say which tool it was."""
    is_team: bool = False
    """Whether the outermost agent only contains the agents that call models."""
    is_asked_by_model: bool = False
    """Whether only a model call records what the user asked."""
    gaps: dict[str, str] = {}
    """Fields that are known to be missing, with the reason."""

    @property
    def first_agent(self) -> RoleSpan | None:
        """The earliest agent, not counting workflows and agents that are used as tools."""
        for owner in self.owners:
            if owner.role == "agent" and (owner is self.owner or not self.is_in_tool(owner)):
                return owner
        return None

    @property
    def last_agent(self) -> RoleSpan | None:
        """The agent that ends last, not counting agents that are used as tools.

        The agent that starts last would be wrong: an agent that is used as a tool may be recorded
        beside the one that uses it. It starts later, but does not write the response.
        """
        agents = [
            owner for owner in self.owners if owner.role == "agent" and not self.is_in_tool(owner)
        ]
        if len(agents) < 2:
            return agents[0] if agents else None
        return max(agents, key=lambda agent: agent.span.end or 0)

    def is_in_tool(self, role_span: RoleSpan) -> bool:
        """Whether a span works for a tool, not for the agent that answers the user."""
        if role_span.context.outer_tool is not None:
            return True
        agent = role_span.context.agent
        return bool(self.used_agents) and (
            id(role_span) in self.used_agents or id(agent) in self.used_agents
        )


def group_by_role(role_spans: list[RoleSpan]) -> TurnSpans:
    """Group the spans of a turn; spans that record the same model call are grouped together."""
    turn = TurnSpans()
    models: list[RoleSpan] = []
    tools, owners = turn.tools, turn.owners
    for role_span in role_spans:
        role = role_span.role
        if role == "tool":
            tools.append(role_span)
        elif role == "model":
            models.append(role_span)
        elif role == "chain":
            turn.chains.append(role_span)
        elif role == "retriever":
            turn.retrievers.append(role_span)
        elif role != "guardrail":
            owners.append(role_span)
    # A tool that uses an agent starts before it.
    if owners and tools and (owners[-1].span.start or 0) > (tools[0].span.start or 0):
        turn.used_agents = {id(owner) for owner in owners if _is_used(owner, turn)}
    turn.owner = _find_owner(role_spans, turn)
    turn.front = find_front(role_spans)
    turn.models = [_model_spans(spans, turn) for spans in _group_calls(models)]
    turn.is_team = _is_team(turn)
    if turn.is_team:
        _forget_team(turn)
    turn.main_models = [model for model in turn.models if not turn.is_in_tool(model.outer)]
    turn.counters = [
        role_span
        for role_span in role_spans
        if role_span.convention.counts_tokens
        and not (role_span.role == "model" and role_span.is_leaf)
    ]
    if turn.owner is None:
        roots = {id(root): root for role_span in role_spans if (root := role_span.context.root)}
        turn.roots = list(roots.values())
    return turn


def _group_calls(models: list[RoleSpan]) -> list[list[RoleSpan]]:
    """The spans of each model call, the outermost first."""
    groups: dict[int, list[RoleSpan]] = {}
    by_response: dict[str, RoleSpan] = {}
    last: RoleSpan | None = None
    for model in models:
        outer = model.context.model
        if outer is None:
            is_foreign = last is not None and last.span.scope != model.span.scope
            if is_foreign or model.convention.has_response_id:
                outer = _find_twin(model, by_response, last)
            if outer is None and is_foreign:
                outer = _find_same_reply(model, groups)
            last = outer or model
            if outer is not None:  # what is within this span records the same call as well
                groups[id(model)] = groups.setdefault(id(outer), [outer])
        if outer is None:
            groups.setdefault(id(model), [model])
        else:
            groups.setdefault(id(outer), [outer]).append(model)
    return [spans for key, spans in groups.items() if key == id(spans[0])]


def _is_used(owner: RoleSpan, turn: TurnSpans) -> bool:
    """Whether a tool uses an agent: some frameworks record the agent beside the tool."""
    if owner.context.outer_tool is not None:
        return True
    tool = _last_running(owner, turn.tools)
    if tool is None or not covers(tool.span, owner.span.end):
        return False
    return (tool.span.start, tool.span.end) != (owner.span.start, owner.span.end)


def _find_owner(role_spans: list[RoleSpan], turn: TurnSpans) -> RoleSpan | None:
    """The earliest owner. An agent within a tool is none if model calls are recorded beside the
    tool: then the span of the agent that uses it is missing."""
    owners = turn.owners
    for owner in owners:
        if not turn.is_in_tool(owner):
            return owner
    is_used = any(span.role == "model" and not turn.is_in_tool(span) for span in role_spans)
    return None if is_used or not owners else owners[0]


def is_around(first: RoleSpan, role_spans: list[RoleSpan]) -> bool:
    """Whether a span is around others: their root, or the only one below the root, such as the
    request of a web server, that has a role."""
    if role_spans[-1].context.root is first.span:
        return True
    if any(span.context.root is not first.context.root for span in role_spans):
        return False
    return all(covers(first.span, span.span.start) for span in role_spans)


def find_front(role_spans: list[RoleSpan]) -> RoleSpan | None:
    """Return the root, if it is a step that received the user's text: the prompts of routers and
    the arguments of handoffs below it are not what the user wrote."""
    first = role_spans[0]
    if first.role != "chain" or not is_around(first, role_spans):
        return None
    text = first.user_text()
    return None if text is None or is_printed_object(text[1]) else first


def _find_twin(
    role_span: RoleSpan, by_response: dict[str, RoleSpan], last: RoleSpan | None
) -> RoleSpan | None:
    """The span of the same call: two instrumentations may record it side by side.

    The response is the same, or another instrumentation recorded the one call while the other one
    was running. The times must overlap in any case, because caches return a response again.
    """
    twin = None
    if role_span.convention.has_response_id:
        twin = _find_same_response(role_span, by_response)
    if twin is None and last is not None and _is_within(role_span.span, last.span):
        twin = last
    if twin is None or not covers(twin.span, role_span.span.start):
        return None
    return _pair(role_span, twin)


def _pair(role_span: RoleSpan, twin: RoleSpan) -> RoleSpan:
    """Count a span as a part of its twin: of two side by side, the first one is the outer one."""
    twin.is_leaf = False
    role_span.context = msgspec.structs.replace(role_span.context, counter=twin)
    return twin


def _find_same_reply(role_span: RoleSpan, groups: dict[int, list[RoleSpan]]) -> RoleSpan | None:
    """The span of the same call in the tree of another recorder of the whole run, whose spans have
    other parents and end in the order in which they began."""
    scope = role_span.span.scope
    for spans in list(groups.values())[-_MAX_PARALLEL:]:
        twin = spans[0]
        if (
            covers(twin.span, role_span.span.start)
            and all(span.span.scope != scope for span in spans)
            and _has_same_reply(role_span, twin)
        ):
            return _pair(role_span, twin)
    return None


def _has_same_reply(role_span: RoleSpan, other: RoleSpan) -> bool:
    """Whether two calls returned the same, or count the same tokens where that is not recorded."""
    first, second = (_describe_reply(span) for span in (role_span, other))
    if first is not None and second is not None:
        return first == second
    usage, other_usage = role_span.usage(), other.usage()
    counts = usage.input_tokens, usage.output_tokens
    return None not in counts and counts == (other_usage.input_tokens, other_usage.output_tokens)


def _describe_reply(role_span: RoleSpan) -> tuple[str | None, list[str]] | None:
    output = role_span.output_messages()
    if output is None or all(message.hidden for message in output[1]):
        return None
    names = [call.name for message in output[1] for call in message.calls]
    return last_answer(output[1]) or None, names


def _is_within(span: Span, other: Span) -> bool:
    """Whether a span of another instrumentation under the same parent ran while one was running."""
    is_beside = span.parent_id is not None and span.parent_id == other.parent_id
    is_foreign = span.scope != other.scope and bool(span.scope and other.scope)
    return is_beside and is_foreign and covers(other, span.start) and covers(other, span.end)


def _find_same_response(role_span: RoleSpan, by_response: dict[str, RoleSpan]) -> RoleSpan | None:
    attributes = role_span.span.attributes
    response_id = attributes.get("gen_ai.response.id")
    if response_id is None:
        output = text_or_none(attributes.get("output.value"))
        match = _RESPONSE_ID.match(output) if output else None
        response_id = match[1] if match else None
    if not isinstance(response_id, str):
        return None
    twin = by_response.get(response_id)
    by_response[response_id] = role_span
    return twin


def _model_spans(spans: list[RoleSpan], turn: TurnSpans) -> ModelSpans:
    outer = spans[0]
    agent = agent_of(outer, turn)
    for role_span in spans:
        output = role_span.output_messages()
        if output is not None:
            return ModelSpans(outer, spans, agent, output[1], output[0])
    return ModelSpans(outer, spans, agent, [], None)


def agent_of(role_span: RoleSpan, turn: TurnSpans) -> str | None:
    """Return the agent that a span works for: the one it names, else one around or beside it.

    Returns `None` for what runs in a tool: its agent, if it has one, is not recorded.
    """
    context = role_span.context
    if name := role_span.stated_agent or _inner_worker(role_span) or context.agent_name:
        return name
    if context.outer_tool is not None:
        return None
    agent = _last_running(role_span, [owner for owner in turn.owners if owner.role == "agent"])
    if agent is None:
        return workflow_name(turn)
    if _is_below_missing(role_span, agent):
        return None
    tool = _last_running(role_span, turn.tools)
    is_beside = tool is not None and tool.span.parent_id == role_span.span.parent_id
    is_in_tool = tool is not None and (tool.span.start or 0) > (agent.span.start or 0)
    return None if is_in_tool and not is_beside else agent.name


def _is_below_missing(role_span: RoleSpan, agent: RoleSpan) -> bool:
    """Whether a span that was between the two is missing: it may have been another agent."""
    root, other = role_span.context.root, agent.context.root
    return root.parent_id is not None and root.parent_id != other.parent_id and root is not other


def _inner_worker(role_span: RoleSpan) -> str | None:
    """The agent that a step names, unless an agent within the outermost one is around it: that
    knows its own name, while a step knows the name of a node."""
    context, convention = role_span.context, role_span.convention
    if not convention.graph_paths:
        return None
    outermost = context.outer_agent.name if context.outer_agent else None
    if context.outer_tool is not None or context.agent_name not in (None, outermost):
        return None
    return convention.worker_name(role_span.span)


def _is_team(turn: TurnSpans) -> bool:
    """Whether all model calls are those of agents that the outermost agent only contains. Calls
    that lack the path of their step may be anybody's."""
    has_worker = False
    for model in turn.models:
        convention = model.outer.convention
        path = convention.graph_path(model.outer.span) if convention.graph_paths else None
        if path is None:
            continue
        if graph_node(path) is None:
            return False
        has_worker = True
    return has_worker


def _forget_team(turn: TurnSpans) -> None:
    """Drop the team as the agent of model calls that do not say for whom in it they work."""
    for model in turn.models:
        team = model.outer.context.outer_agent
        if team is not None and model.agent == team.name:
            convention, span = model.outer.convention, model.outer.span
            model.agent = model.agent if convention.graph_path(span) else None


def _last_running(role_span: RoleSpan, others: list[RoleSpan]) -> RoleSpan | None:
    """The last of several spans that was started, and had not ended, when another one started."""
    start = role_span.span.start
    # Spans are in order of time. Comparing one with all others is quadratic in long traces.
    end = bisect_right(others, start or 0, key=lambda other: other.span.start or 0)
    for other in reversed(others[max(0, end - _MAX_OWNERS) : end]):
        if other is not role_span and covers(other.span, start):
            return other
    return None


def workflow_name(turn: TurnSpans) -> str | None:
    """Return the name of the workflow, if no agent of the turn has a name."""
    if any(owner.role == "agent" and owner.name for owner in turn.owners):
        return None
    return next((owner.name for owner in turn.owners if owner.name), None)
