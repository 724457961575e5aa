"""Split the spans of one trace id into turns."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import pairwise

from carob.traces.mapping.roles import RoleSpan
from carob.traces.mapping.turn_spans import ModelSpans, find_front, is_around
from carob.traces.messages.message import last_answer
from carob.traces.messages.printed import is_printed_object

_OWNERS = ("agent", "workflow")
_SHORTEST_QUOTE = 12
"""Characters from which a text within another one is a quotation."""


def split_turns(role_spans: list[RoleSpan]) -> Iterator[list[RoleSpan]]:
    """Yield the spans of each turn; most traces have one.

    A new turn begins where an agent starts after the last one had ended and receives another user
    message, with nothing above the two that would make them steps of one run. Runs of one agent at
    the same time, with nothing else at work, are a turn each. Without agents, or
    within a workflow, it begins where a model call repeats the last answer and continues from it.
    Without anything around them, it also begins where a model call receives another question and
    nothing of what was said before.
    """
    owners = [
        role_span
        for role_span in role_spans
        if role_span.role in _OWNERS
        and role_span.context.outer_agent is None
        and role_span.context.outer_tool is None
    ]
    if len(owners) > 1:
        is_one_run = _is_one_run(owners, role_spans[0])
        if not is_one_run and _run_at_once(owners, role_spans):
            yield from _cut_by_owner(owners, role_spans)
            return
        starts = [] if is_one_run else _find_agent_starts(owners)
    elif owners:
        starts = _find_run_starts(owners[0], role_spans)
        if starts:  # the workflow around all turns belongs to none of them
            role_spans = [role_span for role_span in role_spans if role_span is not owners[0]]
    elif find_front(role_spans) is not None:
        starts = _find_model_starts(role_spans)
    elif branches := _find_branches(role_spans):
        yield from branches
        return
    else:
        starts = _find_model_starts(role_spans, alone=True)
    if owners and _follows_lost_run(owners[0], role_spans):
        starts = [owners[0], *starts]
    if starts:
        yield from _cut(role_spans, starts)
    else:
        yield role_spans


def _is_one_run(owners: list[RoleSpan], first: RoleSpan) -> bool:
    """Whether all agents are steps of a root span that received a user message itself, or of one
    where no message is recorded at all."""
    if first.role != "chain" or not is_around(first, owners):
        return False
    if first.user_text() is not None:
        return True
    return all(owner.user_text() is None for owner in owners)


def _follows_lost_run(owner: RoleSpan, role_spans: list[RoleSpan]) -> bool:
    """Whether model calls before the first agent belong to a run that failed, and have nothing to
    do with what the agent was asked: smolagents loses the span of such a run."""
    user, start = owner.user_text(), owner.span.start or 0
    before = [
        role_span
        for role_span in _outer_models(role_spans)
        if role_span.context.outer_agent is None and (role_span.span.end or 0) <= start
    ]
    if user is None or not before or before[-1].span.status != "error":
        return False
    asked = _user_text(before[0])
    return asked is not None and not _is_within(asked, user[1])


def _run_at_once(owners: list[RoleSpan], role_spans: list[RoleSpan]) -> bool:
    """Whether one agent was run several times at once, as by a script that evaluates it."""
    first = owners[0]
    if any(
        (owner.name, owner.role, owner.span.scope) != (first.name, first.role, first.span.scope)
        or owner.context.root.parent_id is not None
        for owner in owners
    ):
        return False
    is_done = all(
        (before.span.end or 0) <= (after.span.start or 0) for before, after in pairwise(owners)
    )
    return not is_done and all(
        role_span.context.outer_agent is not None or role_span.role in _OWNERS
        for role_span in role_spans
        if role_span.role != "chain"
    )


def _cut_by_owner(owners: list[RoleSpan], role_spans: list[RoleSpan]) -> Iterator[list[RoleSpan]]:
    parts: dict[int, list[RoleSpan]] = {id(owner): [] for owner in owners}
    for role_span in role_spans:
        part = parts.get(id(role_span.context.outer_agent or role_span))
        if part is not None:
            part.append(role_span)
    yield from parts.values()


def _find_agent_starts(owners: list[RoleSpan]) -> list[RoleSpan]:
    first = owners[0]
    last_end = first.span.end or 0
    user = first.user_text()
    starts: list[RoleSpan] = []
    for owner in owners[1:]:
        is_after = (owner.span.start or 0) >= last_end > 0
        last_end = max(last_end, owner.span.end or 0)
        if not is_after or (owner.name != first.name and owner.span.parent_id is not None):
            continue
        next_user = owner.user_text()
        if _is_new_message(user, next_user, same_agent=owner.name == first.name):
            starts.append(owner)
            user = next_user
    return starts


def _is_new_message(
    user: tuple[str, str] | None, next_user: tuple[str, str] | None, *, same_agent: bool
) -> bool:
    """Whether the user wrote something else. If that is not recorded, a second run of the same
    agent counts as a new turn, and a run of another agent as a handoff."""
    if user is None or next_user is None:
        return same_agent
    return user[1] != next_user[1]


def _find_run_starts(workflow: RoleSpan, role_spans: list[RoleSpan]) -> list[RoleSpan]:
    """The runs within a workflow that continue from the last answer, or that have nothing to do
    with what was said before.

    A workflow that received a user message itself is one turn.
    """
    if workflow.role != "workflow" or workflow.user_text() is not None:
        return []
    has_answer = workflow.convention.response_text(workflow.span) is not None
    is_bare = not has_answer and not any(span.role == "agent" for span in role_spans)
    continuing = {id(model) for model in _find_model_starts(role_spans, alone=is_bare)}
    known_runs = set[int]()
    starts: list[RoleSpan] = []
    for model in _outer_models(role_spans) if continuing else ():
        run, above = model, model.context.agent
        while above is not None and above is not workflow:
            run, above = above, above.context.agent
        if id(model) in continuing and id(run) not in known_runs:
            starts.append(run)
        known_runs.add(id(run))
    return starts


def _find_model_starts(role_spans: list[RoleSpan], *, alone: bool = False) -> list[RoleSpan]:
    """The model calls that repeat the last answer and add a user message.

    With `alone`, nothing says that the calls are steps of one run. Then calls that have nothing
    to do with those before them begin a turn as well.
    """
    models = _outer_models(role_spans)
    return [*_find_starts(models, alone=alone)] if len(models) > 1 else []


def _find_starts(models: list[RoleSpan], *, alone: bool) -> Iterator[RoleSpan]:
    answer: str | None = None
    exchange = _SplitExchange()
    resumption = -1
    for index, model in enumerate(models):
        if index < resumption:
            continue
        if (answer and _continues(model, answer)) or (alone and exchange.is_unrelated(model)):
            resumption = _find_resumption(models, index) if alone else -1
            if resumption >= 0:
                continue
            yield model
            exchange = _SplitExchange()
        output = model.output_messages()
        if output is not None:  # a second recorder beside the first may record no messages
            has_calls = any(message.calls for message in output[1])
            answer = None if has_calls else last_answer(output[1])
        if alone:
            exchange.add(model, answer)


def _find_branches(role_spans: list[RoleSpan]) -> list[list[RoleSpan]]:
    """The model calls below each of several spans, if they ran at once and the questions have
    nothing to do with each other; else none."""
    branches: dict[str | None, list[RoleSpan]] = {}
    for role_span in role_spans:
        above = role_span.context.model or role_span
        if role_span.role == "model":
            branches.setdefault(above.span.parent_id, []).append(role_span)
        elif role_span.role != "chain":
            return []
    if len(branches) < 2:
        return []
    exchange, last_end, is_at_once = _SplitExchange(), 0, False
    for branch in branches.values():
        first = branch[0]
        is_at_once = is_at_once or (first.span.start or 0) < last_end
        if last_end and not exchange.is_unrelated(first):
            return []
        exchange.add(first, None)
        last_end = max(last_end, *(role_span.span.end or 0 for role_span in branch))
    return [*branches.values()] if is_at_once else []


def _find_resumption(models: list[RoleSpan], index: int) -> int:
    """The model call that gets the results which the call before `index` requested, or -1.

    What runs until then is the work of a tool, such as another agent whose span is not recorded.
    """
    output = models[index - 1].output_messages()
    pending = {call.id for message in (output[1] if output else ()) for call in message.calls}
    pending.discard(None)
    if not pending or _has_results(models[index], pending):
        return -1
    later = range(index + 1, len(models))
    return next((number for number in later if _has_results(models[number], pending)), -1)


def _has_results(model: RoleSpan, ids: set[str | None]) -> bool:
    received = model.input_messages()
    return received is not None and any(
        result.id in ids for message in received[1] for result in message.results
    )


def asks_several(models: list[ModelSpans], user: str | None) -> bool:
    """Whether model calls received questions that have nothing to do with each other; the first
    of them received what the user asked."""
    if len(models) < 2 or _user_text(models[-1].outer) in (None, user):
        return False
    starts = _find_starts([model.outer for model in models], alone=True)
    return next(starts, None) is not None  # the messages of later calls need not be read


class _SplitExchange:
    """What was said in a turn so far."""

    def __init__(self) -> None:
        self.user: str | None = None
        self.texts: set[str] = set()

    def add(self, model: RoleSpan, answer: str | None) -> None:
        user = _user_text(model)
        if user is not None:
            self.user = self.user or user
            self.texts.add(user)
        if answer:
            self.texts.add(answer)

    def is_unrelated(self, model: RoleSpan) -> bool:
        """Whether a model call received another question and none of these texts, which a title,
        a summary or the next step of a chain would contain."""
        user = _user_text(model) if self.user is not None else None
        if user is None or user == self.user:
            return False
        received = model.input_messages()
        texts = {message.text for message in (received[1] if received else ()) if message.text}
        texts.add(user)
        return not any(_is_within(text, other) for text in texts for other in self.texts)


def _user_text(model: RoleSpan) -> str | None:
    text = model.user_text()
    return None if text is None or is_printed_object(text[1]) else text[1]


def _is_within(text: str, other: str) -> bool:
    """Whether one of two texts contains the other; short ones must be equal, because a question
    may contain `yes` or `4` by chance."""
    if text == other:
        return True
    shorter, longer = sorted((text.strip(), other.strip()), key=len)
    return len(shorter) >= _SHORTEST_QUOTE and shorter in longer


def _outer_models(role_spans: list[RoleSpan]) -> list[RoleSpan]:
    return [
        role_span
        for role_span in role_spans
        if role_span.role == "model"
        and role_span.context.model is None
        and role_span.context.outer_tool is None
    ]


def _continues(model: RoleSpan, answer: str) -> bool:
    received = model.input_messages()
    for before, after in pairwise(received[1] if received else ()):
        if before.role == "assistant" and before.text == answer and after.role == "user":
            return True
    return False


def _cut(role_spans: list[RoleSpan], starts: list[RoleSpan]) -> Iterator[list[RoleSpan]]:
    times = [start.span.start or 0 for start in starts]
    parts: list[list[RoleSpan]] = [[] for _ in range(len(starts) + 1)]
    for role_span in role_spans:
        # A span belongs to the turn of the agent around it, even if it starts after the turn. An
        # agent around several turns does not count: all its spans would be in the first one.
        owner = role_span.context.outer_agent or role_span
        if (owner.span.end or 0) > times[-1] > (owner.span.start or 0):
            owner = role_span
        parts[bisect_right(times, owner.span.start or 0)].append(role_span)
    for part in parts:
        if part:
            yield part
