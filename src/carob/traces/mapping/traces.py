"""Build a `Trace` from the spans of one trace id."""

from __future__ import annotations

from collections.abc import Sequence

from carob.schema import Json, Span, Trace
from carob.traces.mapping.convention import Convention, first_text
from carob.traces.mapping.detect import builtin_detector, detector_with_extras
from carob.traces.mapping.roles import RoleSpan, assign_roles
from carob.traces.mapping.splitting import split_turns
from carob.traces.mapping.tokens import find_missing_tokens
from carob.traces.mapping.turn_spans import group_by_role
from carob.traces.mapping.turns import build_turn
from carob.traces.messages.withheld import is_withheld

_CASE_IDS = ("carob.case.id", "agentevals.eval.case.id")
_OWNERS = frozenset(("agent", "workflow"))
_WORK = frozenset(("agent", "workflow", "model", "tool"))
_MAX_SEARCHED = 16
"""Spans of a trace that are searched for its conversation id."""


def to_traces(
    spans: Sequence[Span], *, source: str | None = None, keep_spans: bool = False
) -> list[Trace]:
    """Build the trace of the spans of one trace id, in order of time; none if no agent is at work.

    Returns a list, because spans that are not part of an agent's work give no trace.
    """
    detector = builtin_detector()
    role_spans = assign_roles(spans, detector)
    # Looking for the conventions of other packages takes longer than mapping a hundred traces, so
    # it only happens for traces in which the built-in ones find no agent. The rule depends on the
    # trace alone: if foreign conventions were used from the first such trace on, the result would
    # depend on the order of traces and on their division among processes.
    if _OWNERS.isdisjoint([role_span.role for role_span in role_spans]):
        if (extended := detector_with_extras()) is not None:
            role_spans, detector = assign_roles(spans, extended), extended
        if not _find_work(role_spans):
            return []
    convention = _owner_convention(role_spans)
    regrouped = spans
    for convention_type in {type(role_span.convention) for role_span in role_spans}:
        if convention_type.regroup is not Convention.regroup:
            regrouped = (
                _find_convention(role_spans, convention_type).regroup(regrouped) or regrouped
            )
    if regrouped is not spans:
        role_spans = assign_roles(regrouped, detector)
    turns_spans = [group_by_role(part) for part in split_turns(role_spans)]
    turns = [build_turn(turn_spans) for turn_spans in turns_spans]
    sources, gaps = turns_spans[0].sources, turns_spans[0].gaps
    for turn_spans in turns_spans[1:]:
        sources, gaps = turn_spans.sources | sources, turn_spans.gaps | gaps
    missing = find_missing_tokens([call for turn in turns for call in turn.model_calls])
    if missing is not None:
        gaps["usage"] = missing
    root = role_spans[0].context.root
    return [
        Trace(
            id=root.trace_id,
            turns=tuple(turns),
            source=source,
            convention=convention.name,
            mapper=convention.mapper,
            conversation=_conversation(root, role_spans),
            case=_case(root, role_spans),
            state=_state(root),
            sources=sources,
            gaps=gaps,
            spans=tuple(spans) if keep_spans else (),
        )
    ]


def _find_work(role_spans: list[RoleSpan]) -> bool:
    """Whether an agent, model or tool is at work; runs without any of them become workflows."""
    if not _WORK.isdisjoint([role_span.role for role_span in role_spans]):
        return True
    runs = [role_span for role_span in role_spans if _is_run(role_span)]
    for role_span in runs:
        role_span.role = "workflow"
    return bool(runs)


def _is_run(role_span: RoleSpan) -> bool:
    """Whether a step is a whole run, of which nothing else was recorded: it has no parent, a
    question and an answer."""
    if role_span.role != "chain" or role_span.span.parent_id is not None:
        return False
    response = role_span.convention.response_text(role_span.span)
    return role_span.user_text() is not None and response is not None


def _owner_convention(role_spans: list[RoleSpan]) -> Convention:
    """The convention of the first span that is more than a step."""
    for role_span in role_spans:
        if role_span.role != "chain":
            return role_span.convention
    return role_spans[0].convention


def _find_convention(role_spans: list[RoleSpan], convention_type: type[Convention]) -> Convention:
    return next(span.convention for span in role_spans if type(span.convention) is convention_type)


def _conversation(root: Span, role_spans: list[RoleSpan]) -> str | None:
    for role_span in role_spans[:_MAX_SEARCHED]:
        if conversation := _unscrubbed(role_span.convention.conversation_id(role_span.span)):
            return conversation
    conversation = first_text(root.attributes, ("session.id", "gen_ai.conversation.id"))
    return _unscrubbed(conversation) or first_text(root.resource, ("carob.conversation.id",))


def _unscrubbed(conversation: str | None) -> str | None:
    """Return the id unless it is a marker: Logfire scrubs whatever is called a session, and all
    conversations would be one."""
    return None if conversation is None or is_withheld(conversation) else conversation


def _state(root: Span) -> dict[str, Json] | None:
    """The session state, which a container may add to the resource; spans do not record it."""
    state = root.resource.get("carob.state")
    return state if isinstance(state, dict) else None


def _case(root: Span, role_spans: list[RoleSpan]) -> str | None:
    for attributes in (root.attributes, root.resource, role_spans[0].span.attributes):
        if case := first_text(attributes, _CASE_IDS):
            return case
    return None
