"""What is dropped from a recording is not recorded: no other value may take its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import msgspec
import pytest

from carob.schema import Span, ToolCall, ToolResult, Trace, Turn, Usage
from carob.traces.mapping.detect import builtin_detector
from carob.traces.mapping.traces import to_traces
from tests.traces.recorded_spans import RecordedTrace, order, recorded_traces

T = TypeVar("T")
MISCOUNTED = "anthropic-sdk-openllmetry-parallel-calls-stream.jsonl-000000"
"""The outer of two spans counts a token too many, and only the inner one shows it."""

NOT_NOTICED = {
    "agent-framework-otel-sub-agents-at-once": "without the coordinator, a worker made its call",
    "openai-agents-native-chat-sub-agents-at-once": "of two equal workers, one lost its request",
    "anthropic-sdk-openinference-reasoning": "only the type of a block tells a thought from a text",
    "google-adk-default-reasoning": "only the count of its tokens tells a thought from a text",
    "google-adk-openinference-sub-agent": "without the agent, the question of its tool is left",
    "google-adk-latest-reasoning": "only the count of its tokens tells a thought from a text",
    "openai-agents-openinference-odd-results": "the model received the result as Python prints it",
    "openai-agents-weave-weave-chat": "a reply that only calls tools looks like an empty answer",
    "openinference-many-turns": "spans that lost attributes already lose another one",
    "smolagents-openinference-json-texts": "without its model calls, a run counts those before it",
    "vercel-6-openinference-retry": "only its result tells that a tool did not fail",
}
"""Recordings in which nothing shows that something is missing, and what is then read wrongly."""


class Mutation(NamedTuple):
    what: str
    spans: tuple[Span, ...]
    loses_span: bool
    """Whether a span is gone, or not recognized any more."""


def mutations(spans: tuple[Span, ...]) -> Iterator[Mutation]:
    for index, span in enumerate(spans):
        for key in span.attributes:
            if is_unnoticed(span, key):
                continue
            rest = {name: value for name, value in span.attributes.items() if name != key}
            yield mutate(spans, index, f"{span.name}: {key}", attributes=rest)
        for number, event in enumerate(span.events):
            rest_events = (*span.events[:number], *span.events[number + 1 :])
            yield mutate(spans, index, f"{span.name}: event {event.name}", events=rest_events)
        others = [*spans[:index], *spans[index + 1 :]]
        if others:
            yield Mutation(f"{span.name}: the span", order(others), loses_span=True)


def mutate(spans: tuple[Span, ...], index: int, what: str, **changes: object) -> Mutation:
    changed = msgspec.structs.replace(spans[index], **changes)
    lost = role_of(changed) != role_of(spans[index])
    return Mutation(what, (*spans[:index], changed, *spans[index + 1 :]), lost)


# Where cached tokens are counted beside the input, and left out if there are none, nothing shows
# that their count is missing.
def is_unnoticed(span: Span, key: str) -> bool:
    is_bedrock = span.scope.endswith((".bedrock", ".bedrock-runtime"))
    if span.scope.startswith("com.anthropic.claude_code"):
        return key == "cache_read_tokens"
    return is_bedrock and key == "gen_ai.usage.cache_read.input_tokens"


def role_of(span: Span) -> tuple[object, object] | None:
    identified = builtin_detector().identify(span)
    return None if identified is None else (type(identified[1]), identified[2])


def wrong_values(full: Trace, found: Trace, *, loses_span: bool) -> Iterator[str]:
    """Describe everything in a trace that its full reading contradicts."""
    for turn, true_turn in pair_turns(found, full):
        for field in ("user", "response"):
            text, true_text = getattr(turn, field), getattr(true_turn, field)
            if text is not None and text.strip() != (true_text or "").strip():
                yield f"{field}: {text!r} is not {true_text!r}"
        yield from wrong_calls(turn, true_turn, loses_span=loses_span)
        yield from wrong_steps(turn, true_turn)
    if len(found.turns) > len(full.turns):
        yield f"{len(found.turns)} turns are more than {len(full.turns)}"
    if len(found.turns) < len(full.turns) and not loses_span:
        yield f"{len(found.turns)} turns are fewer than {len(full.turns)}"
    if "usage" not in found.gaps:
        yield from wrong_tokens(found, full, loses_span=loses_span)


def wrong_steps(turn: Turn, true_turn: Turn) -> Iterator[str]:
    if not is_part(turn.tool_results, true_turn.tool_results, is_same_result):
        yield f"results: {turn.tool_results} are not of {true_turn.tool_results}"
    if not is_part(turn.agents, true_turn.agents, str.__eq__):
        yield f"agents: {turn.agents} are not of {true_turn.agents}"
    if turn.error is not None and true_turn.error is None:
        yield f"error: {turn.error!r}"


def pair_turns(found: Trace, full: Trace) -> list[tuple[Turn, Turn]]:
    if len(found.turns) == len(full.turns):
        return list(zip(found.turns, full.turns, strict=True))
    return [(turn, max(full.turns, key=lambda true: likeness(turn, true))) for turn in found.turns]


def likeness(turn: Turn, true_turn: Turn) -> tuple[int, int]:
    texts = (turn.user == true_turn.user) + (turn.response == true_turn.response)
    return texts, -abs((turn.start or 0) - (true_turn.start or 0))


def wrong_calls(turn: Turn, true_turn: Turn, *, loses_span: bool) -> Iterator[str]:
    calls, true_calls = turn.tool_calls, true_turn.tool_calls or ()
    if calls is None:
        return
    if not is_part(calls, true_calls, is_same_call):
        yield f"calls: {describe(calls)} are not of {describe(true_calls)}"
    elif len(calls) < len(true_calls) and not loses_span:
        yield f"calls: {describe(calls)} are not all of {describe(true_calls)}"


def describe(calls: Sequence[ToolCall]) -> str:
    return ", ".join(f"{call.name}({call.args}) by {call.agent}" for call in calls) or "none"


def is_part(part: Sequence[T], whole: Sequence[T], is_same: Callable[[T, T], bool]) -> bool:
    """Whether each item is one of the whole. Calls that ran in parallel have no order of their own,
    so the order may change if the message that requested them is gone."""
    rest = list(whole)
    for item in part:
        match = next((other for other in rest if is_same(item, other)), None)
        if match is None:
            return False
        rest.remove(match)
    return True


# The id of a call may change: recorders give calls ids of their own beside those of the model.
def is_same_call(call: ToolCall, true_call: ToolCall) -> bool:
    return (
        call.name == true_call.name
        and call.args in (None, true_call.args)
        and call.agent in (None, true_call.agent)
    )


def is_same_result(result: ToolResult, true_result: ToolResult) -> bool:
    is_error = true_result.error is not None
    return (
        result.name in (None, true_result.name)
        and (result.result in (None, true_result.result) or is_error)
        and (result.error is None or is_error)
    )


def wrong_tokens(found: Trace, full: Trace, *, loses_span: bool) -> Iterator[str]:
    """Cached and reasoning tokens may get fewer: most recorders leave them out if there are none,
    so nothing shows that they are missing."""
    for kind in ("input_tokens", "output_tokens"):
        tokens, true_tokens = getattr(found.usage, kind), getattr(full.usage, kind)
        if tokens is None:
            continue
        is_less = tokens < (true_tokens or 0)
        if tokens > (true_tokens or 0) or (is_less and not loses_span):
            yield f"{kind}: {tokens} are not {true_tokens}"
    total, true_total = effective_total(found), effective_total(full)
    if total is not None and true_total is not None and total > true_total:
        yield f"total: {total} is more than {true_total}"


def effective_total(trace: Trace) -> int | None:
    totals = [total_of(call.usage) for call in trace.model_calls]
    known = [total for total in totals if total is not None]
    return sum(known) if known else None


def total_of(usage: Usage) -> int | None:
    if usage.total_tokens is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage.total_tokens
    return usage.input_tokens + usage.output_tokens


def name_trace(recorded: RecordedTrace) -> str:
    return f"{recorded.file}-{recorded.trace.id[:6]}"


def is_checked(recorded: RecordedTrace) -> bool:
    return not any(name in recorded.file for name in NOT_NOTICED)


@pytest.mark.parametrize("recorded", [*filter(is_checked, recorded_traces())], ids=name_trace)
def test_dropping_anything_gives_no_wrong_value(recorded: RecordedTrace):
    wrong = [
        f"without {mutation.what}: {problem}"
        for mutation in mutations(recorded.spans)
        for trace in to_traces(mutation.spans)
        for problem in wrong_values(recorded.trace, trace, loses_span=mutation.loses_span)
    ]
    if name_trace(recorded) == MISCOUNTED:
        wrong = [problem for problem in wrong if "tokens: 37 are" not in problem]
        wrong = [problem for problem in wrong if "total: 351 is" not in problem]
    assert wrong == []
