"""Every recording, read by Carob, equals what happened; what was not recorded is `None`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from typing import cast

import msgspec
import pytest

from carob.schema import Json, Problem, ToolCall, ToolResult, Turn, Usage
from carob.traces.mapping.tokens import find_missing_tokens
from carob.traces.read import read_traces
from carob.traces.shape import to_text
from tests.captures.recordings import Recording, TrueTurn, recordings

RECORDINGS = recordings()


def read_turns(recording: Recording) -> list[Turn]:
    problems: list[Problem] = []
    traces = list(read_traces([recording.path], report=problems.append))
    return [turn for trace in traces for turn in trace.turns]


@pytest.mark.parametrize("recording", RECORDINGS, ids=str)
def test_recording_is_read_as_it_happened(recording: Recording):
    turns = read_turns(recording)
    if "turns" in recording.not_recorded(1):
        assert_nothing_is_claimed(turns, recording)
        return
    assert len(turns) == len(recording.turns)
    for number, (turn, truth) in enumerate(zip(turns, recording.turns, strict=True), 1):
        lacks = recording.not_recorded(number)
        turn_read, expected = describe_turn(turn, truth, lacks), describe_truth(truth, lacks)
        if "at-once" in recording.cell.scenario:  # agents that run at once come in any order
            turn_read, expected = (sort_lists(fields) for fields in (turn_read, expected))
        assert turn_read == expected


def sort_lists(fields: dict[str, object]) -> dict[str, object]:
    return {
        key: sorted(map(repr, cast("list[object]", value))) if isinstance(value, list) else value
        for key, value in fields.items()
    }


def assert_nothing_is_claimed(turns: list[Turn], recording: Recording) -> None:
    """Where a recorder does not show what belongs to a turn, only the names of calls are known."""
    assert [turn.user or turn.response for turn in turns] == [None] * len(turns)
    names = [call.name for turn in turns for call in turn.tool_calls or ()]
    assert names == [call["name"] for turn in recording.turns for call in turn.calls]


def describe_truth(truth: TrueTurn, lacks: list[str]) -> dict[str, object]:
    fields: dict[str, object] = {
        "user": None if "user" in lacks else truth.user,
        "response": None if "response" in lacks else truth.response,
        "failed": "error" not in lacks and truth.failed,
        "calls": None if "calls" in lacks else expect_calls(truth, lacks),
        "wrong agents of calls": [],
        "results": [] if "results" in lacks else expect_results(truth, lacks),
        "agents": [] if "agents" in lacks else truth.agents,
        "models": [] if "models" in lacks else truth.models,
        "model_calls": truth.model_calls,
    }
    for kind, tokens in truth.tokens.items():
        fields[f"{kind} tokens"] = None if {"tokens", kind} & set(lacks) else tokens
    if "model_calls" in lacks:
        del fields["model_calls"]
    return fields


def expect_calls(truth: TrueTurn, lacks: list[str]) -> list[tuple[object, object]]:
    """The calls, without hand-overs if the recorder does not record these as calls."""
    tools = {result["name"] for result in truth.results}
    return [
        (call["name"], None if "args" in lacks else call["args"])
        for call in truth.calls
        if call["name"] in tools or "hand_over" not in lacks
    ]


def expect_results(truth: TrueTurn, lacks: list[str]) -> list[tuple[object, object, object]]:
    """The results; frameworks may report a failure as an ordinary result."""
    return [
        (result["name"], result["text"], result["failed"] and "tool_errors" not in lacks)
        for result in truth.results
    ]


def describe_turn(turn: Turn, truth: TrueTurn, lacks: list[str]) -> dict[str, object]:
    # The sum over some of the calls is not the whole, as Carob says of the trace.
    is_partial = find_missing_tokens(turn.model_calls) is not None
    usage = Usage() if is_partial else Usage.total(call.usage for call in turn.model_calls)
    fields: dict[str, object] = {
        "user": turn.user,
        "response": strip(turn.response),
        "failed": turn.error is not None,
        "calls": None if turn.tool_calls is None else [(c.name, c.args) for c in turn.tool_calls],
        "wrong agents of calls": find_wrong_agents(turn, truth) if "agents" not in lacks else [],
        "results": describe_results(turn, truth),
        "agents": list(turn.agents),
        "models": describe_models(turn, truth),
        "model_calls": sum(call.error is None for call in turn.model_calls),
    }
    for kind in truth.tokens:
        tokens = getattr(usage, f"{kind}_tokens")
        # Providers and recorders leave out counts that are zero.
        is_lacking = bool({"tokens", kind} & set(lacks))
        is_zero = tokens is None and truth.tokens[kind] == 0 and not is_lacking
        fields[f"{kind} tokens"] = 0 if is_zero else tokens
    if "model_calls" in lacks:
        del fields["model_calls"]
    return fields


def describe_models(turn: Turn, truth: TrueTurn) -> list[str]:
    """The models; recorders may add the provider or the date of a model's version, and leave out
    the vendor."""
    models = {call.model for call in turn.model_calls if call.model}
    return sorted({find_model(model, truth) for model in models})


def find_model(model: str, truth: TrueTurn) -> str:
    for true in truth.models:
        if true in model or true.endswith(f".{model}"):
            return true
    return model


def strip(text: str | None) -> str | None:
    return None if text is None else text.strip()


def find_wrong_agents(turn: Turn, truth: TrueTurn) -> list[ToolCall]:
    """Calls that are attributed to another agent than the one that made them."""
    agents = {(call["name"], call["agent"]) for call in truth.calls}
    return [
        call
        for call in turn.tool_calls or ()
        if call.agent is not None and (call.name, call.agent) not in agents
    ]


def describe_results(turn: Turn, truth: TrueTurn) -> list[tuple[object, object, object]]:
    """The results of the scenario's tools, with the text that the tool returned if it is in there.

    Frameworks wrap what a tool returns, and end at a step limit before or after the last tool ran.
    """
    results = [
        describe_result(result, truth)
        for result in turn.tool_results
        if result.result is not None or result.error is not None
    ]
    expected = expect_results(truth, [])
    known = [result for result in results if result[0] in {name for name, _, _ in expected}]
    if truth.failed or not truth.response or "step" in truth.response:
        known += expected[len(known) :]
    return known


def describe_result(result: ToolResult, truth: TrueTurn) -> tuple[object, object, object]:
    written = msgspec.json.encode([result.result, result.error]).decode()
    for true_result in truth.results:
        if result.name in (None, true_result["name"]) and shows(result, true_result["text"]):
            return true_result["name"], true_result["text"], result.error is not None
    return result.name, written, result.error is not None


def shows(result: ToolResult, true: Json) -> bool:
    """Whether a result shows what the tool returned, however the framework wraps it."""
    values = [value for value in (result.result, result.error) if value is not None]
    if isinstance(true, str) and true:
        return any(encode(true)[1:-1] in encode(v) or true in to_text(v) for v in values)
    return any(true in unwrap(value) for value in values)


def encode(value: Json) -> str:
    return msgspec.json.encode(value).decode()


def unwrap(value: Json) -> Iterator[Json]:
    """Yield a value, and what it holds: printed values, and objects and lists with one item."""
    yield value
    if isinstance(value, str):
        for decode in (msgspec.json.decode, ast.literal_eval):
            with suppress(ValueError, SyntaxError):
                if (inner := decode(value)) != value:
                    yield from unwrap(inner)
    elif isinstance(value, dict) and (len(value) == 1 or "text" in value):
        yield from unwrap(value.get("text", next(iter(value.values()))))
    elif isinstance(value, list) and len(value) == 1:
        yield from unwrap(value[0])
