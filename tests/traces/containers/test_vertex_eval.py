from __future__ import annotations

from carob.schema import Json, Trace
from carob.traces.containers.detect import read_items


def content(role: str, *parts: Json) -> Json:
    return {"role": role, "parts": list(parts)}


CASE: dict[str, Json] = {
    "eval_case_id": "c",
    "prompt": content("user", {"text": "Hi"}),
    "responses": [{"response": content("model", {"text": "Hello"})}],
}
CALL: Json = {"function_call": {"name": "look", "args": {"q": 1}}}
RESULT: Json = {"function_response": {"name": "look", "response": {"r": 2}}}
EVENTS: Json = [
    {"author": "a", "content": content("model", CALL)},
    {"author": "a", "content": content("user", RESULT)},
    {"author": "a", "content": content("model", {"text": "Hello"})},
]


def read(value: Json) -> Trace:
    (trace,) = read_items([value], source="f")
    assert isinstance(trace, Trace)
    return trace


def test_results_beside_their_dataset_are_its_responses():
    results: Json = [{"eval_case_index": 0, "response_candidate_results": []}]
    trace = read({"eval_case_results": results, "evaluation_dataset": [{"eval_cases": [CASE]}]})
    (turn,) = trace.turns
    assert (trace.case, turn.user, turn.response, turn.tool_calls) == ("c", "Hi", "Hello", None)


def test_events_of_the_agent_have_its_calls():
    turns: Json = [{"turn_index": 0, "events": EVENTS}]
    data: Json = {"turns": turns}
    case: Json = {**CASE, "agent_data": data}
    trace = read({"eval_cases": [case]})
    (turn,) = trace.turns
    assert (turn.user, turn.response, turn.agents) == ("Hi", "Hello", ("a",))
    assert [(call.name, call.args) for call in turn.tool_calls or ()] == [("look", {"q": 1})]
