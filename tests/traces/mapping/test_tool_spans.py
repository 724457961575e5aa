from __future__ import annotations

import pytest

from carob.schema import Json, Span, SpanEvent
from carob.traces.mapping.tool_spans import (
    ToolOutput,
    failure_reason,
    is_schema,
    unwrap_arguments,
    unwrap_output,
)


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
def test_arguments_are_unwrapped(recorded: Json):
    assert unwrap_arguments(recorded) == {"city": "Oslo"}


@pytest.mark.parametrize("recorded", [{"input": "Oslo"}, {"args": "-l"}, {"kwargs": 1, "a": 2}])
def test_arguments_that_only_look_wrapped_are_unchanged(recorded: Json):
    assert unwrap_arguments(recorded) == recorded


def test_plain_argument_is_unchanged():
    assert unwrap_arguments("Oslo") == "Oslo"
    assert unwrap_arguments("") == {}


@pytest.mark.parametrize(
    ("recorded", "expected"),
    [
        ('"555"', ToolOutput("555")),
        ("555", ToolOutput("555")),
        ("null", ToolOutput(None)),
        ('{"result": 555}', ToolOutput({"result": 555})),
        ('[{"text": "555"}]', ToolOutput("555")),
        ({"status": "error", "why": "down"}, ToolOutput({"status": "error", "why": "down"})),
        ({"type": "tool", "data": {"content": "555", "tool_call_id": "c"}}, ToolOutput("555", "c")),
        ({"output": {"kwargs": {"content": "555", "tool_call_id": "c"}}}, ToolOutput("555", "c")),
        ({"output": {"content": "x", "status": "error"}}, ToolOutput("x", None, failed=True)),
        ("content='555' name='sum' tool_call_id='c'", ToolOutput("555", "c")),
        ({"type": "text", "text": '{"sum": 555}', "annotations": None}, ToolOutput({"sum": 555})),
        ([{"message": '[{"text": "555"}]', "id": "c"}], ToolOutput("555")),
        ({"id": "c", "name": "sum", "response": {"result": 555}}, ToolOutput({"result": 555}, "c")),
        (
            {"blocks": [{"text": "555"}], "tool_name": "sum", "raw_output": 555, "is_error": False},
            ToolOutput("555"),
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
            ToolOutput("x", "c", failed=True),
        ),
        (
            "status='success' result='555' error=None updated_session_state=None images=None",
            ToolOutput("555"),
        ),
        (
            "status='failure' result=None error='down' updated_session_state=None images=None",
            ToolOutput("down", None, failed=True),
        ),
    ],
)
def test_result_is_unwrapped(recorded: Json, expected: ToolOutput):
    assert unwrap_output(recorded) == expected


@pytest.mark.parametrize(
    "text",
    [
        "An error occurred while running the tool. Please try again.",
        "\nI encountered an error while trying to use the tool. This was the error: down.",
    ],
)
def test_error_text_of_a_framework_is_a_failure(text: str):
    assert unwrap_output(text) == ToolOutput(text, None, failed=True)


def test_schema_is_not_read_as_arguments():
    assert is_schema({"properties": {"city": {"type": "string"}}, "type": "object"})
    assert is_schema({"city": {"type": "string", "description": "the city"}})
    assert not is_schema({"city": "Oslo"})
    assert not is_schema({})


def test_span_fails_by_its_status_its_error_type_or_an_exception():
    raised = SpanEvent(name="exception", attributes={"exception.message": "no such city"})
    assert failure_reason(Span(trace_id="t", span_id="s")) is None
    assert failure_reason(Span(trace_id="t", span_id="s", status="error")) == ""
    assert failure_reason(Span(trace_id="t", span_id="s", events=(raised,))) == "no such city"
    assert (
        failure_reason(Span(trace_id="t", span_id="s", attributes={"error.type": "KeyError"}))
        == "KeyError"
    )
