"""Assign roles to the spans of a trace, and record which agent, tool and model call each is in."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import UNSET, UnsetType

from carob.schema import Span
from carob.traces.mapping.convention import Convention, SpanRole
from carob.traces.mapping.detect import Detector
from carob.traces.messages.message import Message


class RoleSpan(msgspec.Struct, eq=False, gc=False):
    """A span with its role and its context."""

    span: Span
    convention: Convention
    role: SpanRole
    context: SpanContext
    name: str | None = None
    """The name of an agent or a workflow."""
    is_leaf: bool = True
    """Whether no other model call is recorded within."""
    _inputs: tuple[str, list[Message]] | UnsetType | None = UNSET
    _outputs: tuple[str, list[Message]] | UnsetType | None = UNSET

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
    """The outermost tool that it runs in, whatever is between."""
    outer_agent: RoleSpan | None = None
    """The outermost agent or workflow around it."""
    agent_name: str | None = None
    """The name of the nearest agent around it that has one."""
    skip: bool = False


def assign_roles(
    spans: Sequence[Span], detector: Detector, *, parents_first: bool = False
) -> list[RoleSpan]:
    """Return the spans that have a role, in the order of the spans.

    With `parents_first`, a parent that does not precede its children is known to be missing.
    """
    identify = detector.identify
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
        role_span = RoleSpan(known_span, convention, role, above)
        role_spans.append(role_span)
        contexts[span.span_id] = role_span if role == "tool" else _enter(role_span, role_spans)
    return role_spans


def _enter(role_span: RoleSpan, role_spans: list[RoleSpan]) -> SpanContext | RoleSpan:
    """The context of the children of a span, or the span that it is built from later."""
    role, context = role_span.role, role_span.context
    if role == "model":
        if context.inner_model is not None:
            context.inner_model.is_leaf = False
        return role_span
    if role == "agent" or role == "workflow":
        role_span.name = role_span.convention.agent_name(role_span.span)
        if role_span.name is None and context.agent is not None:
            role_span.name = role_span.convention.inner_agent_name(role_span.span)
            role_span.role = "agent"
        if role_span.name is None:  # a run around agents, such as `Agent workflow`
            role_span.role = "workflow"
        return role_span
    if role == "skip":
        role_spans.pop()
        return SpanContext(context.root, skip=True)
    return context


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
    if role == "model":
        model = above.model or outer
        return SpanContext(
            root, agent, above.tool, model, outer, outer_tool, outer_agent, agent_name
        )
    if role == "tool":
        return SpanContext(
            root, agent, outer, None, None, outer_tool or outer, outer_agent, agent_name
        )
    if role == "agent" and outer.name is not None:
        agent_name = outer.name
    return SpanContext(root, outer, None, None, None, outer_tool, outer_agent or outer, agent_name)
