"""Two recorders of one run, each with a tree of its own: every call counts once."""

from __future__ import annotations

import json

from carob.schema import Json, Span, Turn
from carob.traces.mapping.traces import to_traces

USER: Json = {"role": "user", "parts": [{"type": "text", "content": "Where is it?"}]}


def answer(text: str) -> Json:
    return {"role": "assistant", "parts": [{"type": "text", "content": text}]}


def request(*ids: str) -> Json:
    parts: list[Json] = [
        {"type": "tool_call", "id": key, "name": "search", "arguments": {"q": "tent"}}
        for key in ids
    ]
    return {"role": "assistant", "parts": parts}


def span(scope: str, start: int, end: int, operation: str, **more: Json) -> Span:
    attributes: dict[str, Json] = {"gen_ai.operation.name": operation, **more}
    key, parent = f"{scope}{start}", f"{scope}-root"
    return Span(
        "t1", key, parent, operation, "internal", start, end, attributes=attributes, scope=scope
    )


def chat(scope: str, start: int, end: int, reply: Json | None, tokens: int = 5) -> Span:
    counts: dict[str, Json] = {
        "gen_ai.usage.input_tokens": tokens,
        "gen_ai.usage.output_tokens": tokens,
        "gen_ai.input.messages": json.dumps([USER]),
    }
    if reply is not None:
        counts["gen_ai.output.messages"] = json.dumps([reply])
    return span(scope, start, end, "chat", **counts)


def tool(scope: str, start: int, end: int, args: str | None, call_id: str | None = None) -> Span:
    fields = {"gen_ai.tool.call.arguments": args, "gen_ai.tool.call.id": call_id}
    more: dict[str, Json] = {key: value for key, value in fields.items() if value is not None}
    more["gen_ai.tool.call.result"] = "In the shed."
    return span(scope, start, end, "execute_tool", **{"gen_ai.tool.name": "search"}, **more)


def read_turn(*spans: Span) -> Turn:
    roots = (
        Span("t1", f"{scope}-root", None, "run", "internal", start, 100 - start, scope=scope)
        for scope, start in (("a", 0), ("b", 1))
    )
    (trace,) = to_traces((*roots, *spans))
    (turn,) = trace.turns
    return turn


def count_tokens(turn: Turn) -> list[int | None]:
    return [call.usage.input_tokens for call in turn.model_calls]


def test_a_call_that_both_recorded_counts_once():
    reply = answer("In the shed.")
    turn = read_turn(chat("a", 2, 5, reply), chat("b", 3, 6, reply))
    assert count_tokens(turn) == [5]


def test_calls_in_parallel_are_paired_by_what_they_returned():
    first, second = answer("In the shed."), answer("In the cellar.")
    spans = chat("a", 2, 8, first), chat("a", 3, 9, second)
    twins = chat("b", 4, 8, first), chat("b", 5, 9, second)
    assert count_tokens(read_turn(*spans, *twins)) == [5, 5]


def test_calls_without_recorded_text_are_paired_by_their_tokens():
    assert count_tokens(read_turn(chat("a", 2, 5, None), chat("b", 3, 6, None))) == [5]
    assert count_tokens(read_turn(chat("a", 2, 5, None), chat("b", 3, 6, None, 7))) == [5, 7]


def test_other_calls_of_another_recorder_count():
    shed, cellar = answer("In the shed."), answer("In the cellar.")
    assert count_tokens(read_turn(chat("a", 2, 5, shed), chat("b", 3, 6, cellar))) == [5, 5]
    assert count_tokens(read_turn(chat("a", 2, 3, shed), chat("b", 5, 6, shed))) == [5, 5]


def test_a_tool_that_both_recorded_ran_once():
    asked = chat("a", 2, 3, request("c1"))
    turn = read_turn(asked, tool("a", 4, 7, '"tent"'), tool("b", 5, 8, '{"q": "tent"}', "c1"))
    assert [(call.id, call.args) for call in turn.tool_calls or ()] == [("c1", {"q": "tent"})]
    assert [result.result for result in turn.tool_results] == ["In the shed."]


def test_tools_in_parallel_are_paired_by_id_or_by_arguments():
    args = '{"q": "tent"}', '{"q": "rope"}'
    for ids in (("c1", "c2"), (None, None)):
        spans = [
            tool(scope, start + index, 9 + index, arguments, call_id)
            for scope, start in (("a", 2), ("b", 5))
            for index, (arguments, call_id) in enumerate(zip(args, ids, strict=True))
        ]
        calls = read_turn(*spans).tool_calls or ()
        assert [call.args for call in calls] == [{"q": "tent"}, {"q": "rope"}]
