"""Assign roles to the spans of a trace, and record which agent, tool and model call each is in."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from carob.schema import Span, Usage
from carob.traces.mapping.convention import Convention, SpanRole
from carob.traces.mapping.detect import Detector
from carob.traces.messages.events import count_requests
from carob.traces.messages.message import Message, asked_text

_NO_USAGE = Usage()
_PLACEHOLDERS = frozenset(("OpenAI Agent",))
"""Names that instrumentations give to the model calls of any agent."""


class RoleSpan(msgspec.Struct, eq=False, gc=False):
    """A span with its role and its context."""

    span: Span
    convention: Convention
    role: SpanRole
    context: SpanContext
    name: str | None = None
    """The name of an agent or a workflow, or of the agent that a step runs."""
    is_leaf: bool = True
    """Whether no other model call is recorded within."""
    _usage: Usage | None = None
    _inputs: tuple[str, list[Message]] | UnsetType | None = UNSET
    _outputs: tuple[str, list[Message]] | UnsetType | None = UNSET
    _user_text: tuple[str, str] | UnsetType | None = UNSET

    @property
    def stated_agent(self) -> str | None:
        """The agent that the span itself names."""
        name = self.span.attributes.get("gen_ai.agent.name")
        return name if name and isinstance(name, str) and name not in _PLACEHOLDERS else None

    def usage(self) -> Usage:
        """Return the tokens that the span counts, from the first convention that finds any."""
        if self._usage is None:
            requests = self.requests() if len(self.span.events) > 1 else None
            self._usage = Usage.total(requests) if requests else self.convention.usage(self.span)
            for other in self.convention.others if self._usage == _NO_USAGE else ():
                if (usage := other.usage(self.span)) != _NO_USAGE:
                    self._usage = usage
                    break
        return self._usage

    def requests(self) -> list[Usage]:
        """Return the tokens of each request, if the span records several; usually none."""
        if self.role != "model" or len(self.span.events) < 2:
            return []
        requests = count_requests(self.span)
        return requests if len(requests) > 1 else []

    def input_messages(self) -> tuple[str, list[Message]] | None:
        """Return the messages that the span received and their source, read only once."""
        if self._inputs is UNSET:
            self._inputs = self.convention.input_messages(self.span)
        return self._inputs

    def output_messages(self) -> tuple[str, list[Message]] | None:
        """Return the messages that the span returned and their source, read only once."""
        if self._outputs is UNSET:
            self._outputs = self.convention.output_messages(self.span)
        return self._outputs

    def user_text(self) -> tuple[str, str] | None:
        """Return the user's last text and its source, read only once: where turns begin and what
        the user wrote are both decided by it."""
        if self._user_text is UNSET:
            self._user_text = self._asked_text() or self.convention.user_text(self.span)
        return self._user_text

    def _asked_text(self) -> tuple[str, str] | None:
        """The user's last text in the messages that were read before, which saves reading it."""
        received = self._inputs
        if not received or type(self.convention).user_text is not Convention.user_text:
            return None
        text = asked_text(received[1])
        return None if text is None else (received[0], text)


# Unlike the other structs here, contexts are tracked by the cycle collector (no `gc=False`). They
# form chains as deep as the trace, and Python frees untracked objects recursively: a chain of a
# hundred thousand would overflow the stack.
class SpanContext(msgspec.Struct, eq=False):
    """The spans around a span, shared by all children of one parent."""

    root: Span
    """The outermost span around it, whatever its role."""
    agent: RoleSpan | None = None
    """The agent or workflow that it works for."""
    tool: RoleSpan | None = None
    """The tool that it runs in, with no agent between."""
    model: RoleSpan | None = None
    """The outermost model call that it is a part of, with no agent or tool between."""
    inner_model: RoleSpan | None = None
    """The innermost model call that it is a part of."""
    outer_tool: RoleSpan | None = None
    """The outermost tool or guardrail that it runs in, whatever is between."""
    outer_agent: RoleSpan | None = None
    """The outermost agent or workflow around it."""
    agent_name: str | None = None
    """The name of the nearest agent around it that has one."""
    counter: RoleSpan | None = None
    """The nearest span around it that may count its tokens, whatever its role."""
    skip: bool = False


def assign_roles(
    spans: Sequence[Span],
    detector: Detector,
    *,
    parents_first: bool = False,
    names: bool = True,
) -> list[RoleSpan]:
    """Return the spans that have a role, in the order of the spans.

    With `parents_first`, a parent that does not precede its children is known to be missing.
    Without `names`, the name of a span alone gives it no role.
    """
    identify = detector.identify
    guess: type[Convention] | None = None
    # One pass is enough if parents come before their children, as they usually do; the first parent
    # that does not come before starts over with the spans rearranged.
    contexts: dict[str | None, SpanContext | RoleSpan] = {}
    role_spans: list[RoleSpan] = []
    for span in spans:
        parent = span.parent_id
        above = contexts.get(parent)
        if above is None:
            if parent is not None and not parents_first:
                return _assign_unordered(spans, detector)
            above = SpanContext(span)
        elif isinstance(above, RoleSpan):
            # Most spans have no children, so the context is built when the first child comes.
            above = contexts[parent] = _context_within(above)
        identified = None if above.skip else identify(span)
        if identified is None:
            contexts[span.span_id] = above
            continue
        known_span, convention, role = identified
        if convention.is_guess:
            if not names:
                contexts[span.span_id] = above
                continue
            guess = type(convention)
        role_span = RoleSpan(known_span, convention, role, above)
        role_spans.append(role_span)
        contexts[span.span_id] = role_span if role == "tool" else _enter(role_span, role_spans)
    if guess is not None and not _is_confirmed(guess, role_spans):
        return assign_roles(spans, detector, parents_first=parents_first, names=False)
    return role_spans


def _is_confirmed(guess: type[Convention], role_spans: list[RoleSpan]) -> bool:
    """Whether more than a name shows that the trace has spans of a convention."""
    return any(
        type(role_span.convention) is guess and not role_span.convention.is_guess
        for role_span in role_spans
    )


def _enter(role_span: RoleSpan, role_spans: list[RoleSpan]) -> SpanContext | RoleSpan:
    """The context of the children of a span, or the span that it is built from later."""
    role, context = role_span.role, role_span.context
    if role == "model":
        outer = context.inner_model
        if outer is not None and _is_other_agent(role_span, outer):
            role_span.context = msgspec.structs.replace(
                context, model=None, inner_model=None, counter=outer.context.counter
            )
        elif outer is not None:
            outer.is_leaf = False
        return role_span
    if role == "agent" or role == "workflow":
        role_span.name = role_span.convention.agent_name(role_span.span)
        if role_span.name is None and context.agent is not None:
            role_span.name = role_span.convention.inner_agent_name(role_span.span)
            role_span.role = "agent"
        if role_span.name is None:  # a run around agents, such as `Agent workflow`
            role_span.role = "workflow"
        return role_span
    if role == "guardrail":
        return role_span
    if role == "skip":
        role_spans.pop()
        return SpanContext(context.root, skip=True)
    if role == "chain" and (name := role_span.convention.step_agent(role_span.span)):
        role_span.name = name
        return msgspec.structs.replace(context, agent_name=name)
    return role_span if role_span.convention.counts_tokens else context


def _is_other_agent(inner: RoleSpan, outer: RoleSpan) -> bool:
    """Whether a model call within another works for another agent, and so is not the same call."""
    names = inner.stated_agent, outer.stated_agent
    return names[0] is not None and names[1] is not None and names[0] != names[1]


def _assign_unordered(spans: Sequence[Span], detector: Detector) -> list[RoleSpan]:
    """Assign roles where a parent is missing, or comes after its children."""
    by_id = {span.span_id: span for span in spans}
    ordered: dict[str, Span] = {}
    for span in spans:
        # Spans may be each other's parents; the chain ends where it would repeat itself.
        chain: dict[str, Span] = {}
        above: Span | None = span
        while above is not None and above.span_id not in chain and above.span_id not in ordered:
            chain[above.span_id] = above
            above = by_id.get(above.parent_id) if above.parent_id is not None else None
        ordered.update(reversed(chain.items()))
    position = {span.span_id: index for index, span in enumerate(spans)}
    role_spans = assign_roles(tuple(ordered.values()), detector, parents_first=True)
    return sorted(role_spans, key=lambda role_span: position[role_span.span.span_id])


def _context_within(outer: RoleSpan) -> SpanContext:
    role, above = outer.role, outer.context
    root, agent, outer_tool, outer_agent, agent_name = (
        above.root,
        above.agent,
        above.outer_tool,
        above.outer_agent,
        above.agent_name,
    )
    counter = outer if outer.convention.counts_tokens else above.counter
    tool, model, inner_model = above.tool, above.model, above.inner_model
    if role == "model":
        model, inner_model = model or outer, outer
    elif role == "tool":
        # What runs in a tool works for the tool, unless another agent surrounds it.
        tool, model, inner_model, outer_tool = outer, None, None, outer_tool or outer
        agent_name = None
    elif role == "guardrail":
        model, inner_model, outer_tool, agent_name = None, None, outer_tool or outer, None
    elif role == "agent" or role == "workflow":
        if role == "agent" and outer.name is not None:
            agent_name = outer.name
        agent, outer_agent = outer, outer_agent or outer
        tool = model = inner_model = None
    return SpanContext(
        root, agent, tool, model, inner_model, outer_tool, outer_agent, agent_name, counter
    )


def covers(span: Span, time: int | None) -> bool:
    """Whether a span was running at a time."""
    if time is None or span.start is None or span.end is None:
        return False
    return span.start <= time <= span.end
