from __future__ import annotations

import pytest

from carob.schema import Json, Span, SpanEvent
from carob.traces.mapping.tools import Answer, answer, arguments, failure, is_schema


@pytest.mark.parametrize(
    "recorded",
    [
        {"city": "Oslo"},
        '{"city": "Oslo"}',
        "{'city': 'Oslo'}",
        '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Oslo"}}',
        '{"kwargs": {"city": "Oslo"}}',
        '{"input": {"city": "Oslo"}}',
        "{\"input\": \"{'city': 'Oslo'}\"}",
        '{"input_str": "{\'city\': \'Oslo\'}", "inputs": {"city": "Oslo"}, "kwargs": {"x": 1}}',
        '{"input_str": "{\'city\': \'Oslo\'}", "tags": []}',
        '[{"name": "weather", "args": {"city": "Oslo"}, "id": "c1", "type": "tool_call"}]',
        {"tool_string": 'Action: weather\nAction Input: {"city": "Oslo"}', "calling": "?"},
        "{\"calling\": \"tool_name='weather' arguments={'city': 'Oslo'}\"}",
    ],
)
def test_arguments_come_out_of_their_wrappers(recorded: Json):
    assert arguments(recorded) == {"city": "Oslo"}


@pytest.mark.parametrize("recorded", [{"input": "Oslo"}, {"args": "-l"}, {"kwargs": 1, "a": 2}])
def test_arguments_that_only_look_like_a_wrapper_stay(recorded: Json):
    assert arguments(recorded) == recorded


def test_a_bare_argument_stays_what_it_is():
    assert arguments("Oslo") == "Oslo"
    assert arguments("") == {}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ('"555"', Answer("555")),
        ("555", Answer("555")),
        ("null", Answer(None)),
        ('{"result": 555}', Answer({"result": 555})),
        ('[{"text": "555"}]', Answer("555")),
        ({"status": "error", "why": "down"}, Answer({"status": "error", "why": "down"})),
        ({"type": "tool", "data": {"content": "555", "tool_call_id": "c"}}, Answer("555", "c")),
        ({"output": {"kwargs": {"content": "555", "tool_call_id": "c"}}}, Answer("555", "c")),
        ({"output": {"content": "x", "status": "error"}}, Answer("x", None, failed=True)),
        ("content='555' name='sum' tool_call_id='c'", Answer("555", "c")),
        ({"type": "text", "text": '{"sum": 555}', "annotations": None}, Answer({"sum": 555})),
        ([{"message": '[{"text": "555"}]', "id": "c"}], Answer("555")),
        ({"id": "c", "name": "sum", "response": {"result": 555}}, Answer({"result": 555}, "c")),
        (
            {"blocks": [{"text": "555"}], "tool_name": "sum", "raw_output": 555, "is_error": False},
            Answer("555"),
        ),
        (
            {
                "tool_id": "c",
                "tool_output": {
                    "content": "x",
                    "tool_name": "sum",
                    "raw_output": "x",
                    "is_error": True,
                },
            },
            Answer("x", "c", failed=True),
        ),
        (
            "status='success' result='555' error=None updated_session_state=None images=None",
            Answer("555"),
        ),
        (
            "status='failure' result=None error='down' updated_session_state=None images=None",
            Answer("down", None, failed=True),
        ),
    ],
)
def test_a_result_comes_out_of_its_wrapper(recorded: Json, expected: Answer):
    assert answer(recorded) == expected


@pytest.mark.parametrize(
    "said",
    [
        "An error occurred while running the tool. Please try again.",
        "\nI encountered an error while trying to use the tool. This was the error: down.",
    ],
)
def test_what_a_framework_says_in_place_of_an_exception_is_a_failure(said: str):
    assert answer(said) == Answer(said, None, failed=True)


def test_a_schema_is_not_taken_for_arguments():
    assert is_schema({"properties": {"city": {"type": "string"}}, "type": "object"})
    assert is_schema({"city": {"type": "string", "description": "the city"}})
    assert not is_schema({"city": "Oslo"})
    assert not is_schema({})


def test_a_span_fails_by_its_status_its_error_type_or_an_exception():
    raised = SpanEvent(name="exception", attributes={"exception.message": "no such city"})
    assert failure(Span(trace_id="t", span_id="s")) is None
    assert failure(Span(trace_id="t", span_id="s", status="error")) == ""
    assert failure(Span(trace_id="t", span_id="s", events=(raised,))) == "no such city"
    assert (
        failure(Span(trace_id="t", span_id="s", attributes={"error.type": "KeyError"}))
        == "KeyError"
    )
