from __future__ import annotations

import pytest

from carob.errors import FormatError, UnknownFormatError
from carob.schema import Json, Problem
from carob.traces.containers.detect import read_items
from carob.traces.containers.registry import BUILTIN, builtin_containers

UNKNOWN = "no trace container matches an object with the keys"
SPAN: dict[str, Json] = {"trace_id": "ab" * 16, "span_id": "cd" * 8, "name": "chat"}


@pytest.mark.parametrize(
    "document",
    [
        SPAN,
        [SPAN],
        {"data": [SPAN]},
        {"data": {"spans": [SPAN]}},
        {"info": {}, "data": {"trace": {"spans": [SPAN]}}},
        {"trace": {"name": "no spans here"}, "spans": [SPAN]},
        {"hits": {"hits": [{"_source": SPAN}]}},
        [[SPAN]],
    ],
)
def test_items_are_found_within_any_wrapper(document: Json):
    assert len(list(read_items([document], source="f"))) == 1


def test_recognized_file_without_spans_lists_its_containers():
    with pytest.raises(FormatError) as caught:
        list(read_items([{"resourceSpans": []}, {"resourceMetrics": []}], source="f"))
    assert str(caught.value) == "f: no spans and no messages in 2 values: found 2 × otlp"


def test_unknown_object_lists_its_keys_and_names_the_way():
    with pytest.raises(UnknownFormatError) as caught:
        list(read_items([{"color": "red", "size": 4}], source="f"))
    assert "an object with the keys 'color', 'size'" in caught.value.message
    assert caught.value.hint == "name its fields with --map, such as user=query,response=answer"


def test_unknown_object_names_the_nearest_container_and_what_it_lacks():
    with pytest.raises(UnknownFormatError) as caught:
        list(read_items([{"op_name": "search", "id": "1", "inputs": {}}], source="f"))
    assert (caught.value.hint or "").startswith("nearest is weave, without 'trace_id';")


def test_keys_that_any_log_has_are_near_no_container():
    with pytest.raises(UnknownFormatError) as caught:
        list(read_items([{"traceId": "1", "timestamp": 2, "goal": "search"}], source="f"))
    assert caught.value.hint == "name its fields with --map, such as user=query,response=answer"


@pytest.mark.parametrize(
    ("row", "known", "lacking"),
    [
        (
            {"query": "Hi", "respuesta": "Hola", "timestamp": 1},
            "question is in 'query'",
            "response",
        ),
        ({"pregunta": "Hi", "Answer": "Hola", "timestamp": 1}, "answer is in 'Answer'", "user"),
    ],
)
def test_request_with_one_known_field_names_the_other(row: Json, known: str, lacking: str):
    with pytest.raises(UnknownFormatError) as caught:
        list(read_items([row], source="f"))
    assert (caught.value.hint or "").startswith(f"the {known}, but no ")
    assert (caught.value.hint or "").endswith(f"name it with --map {lacking}=…")


def test_question_within_an_object_is_asked_for():
    row: Json = {"input": {"body": "Hi"}, "output": "Hello", "trace_id": "t"}
    with pytest.raises(UnknownFormatError) as caught:
        list(read_items([row], source="f"))
    hint = "'input' has no text under a known name; name it with --map user=input.…"
    assert caught.value.hint == hint


def test_log_of_a_tool_is_not_asked_for_its_question():
    row: Json = {"tool_name": "search", "request": {"query": "bikes"}, "response": [], "ts": 1}
    with pytest.raises(UnknownFormatError) as caught:
        list(read_items([row], source="f"))
    assert caught.value.hint == "name its fields with --map, such as user=query,response=answer"


def test_batches_of_requests_are_called_by_their_name():
    row: Json = {"id": "b", "custom_id": "7", "response": {"status_code": 200}, "error": None}
    with pytest.raises(UnknownFormatError, match="the output of a batch of requests"):
        list(read_items([row], source="f"))


def test_unknown_value_among_known_ones_is_a_warning_if_there_is_a_listener():
    problems: list[Problem] = []
    records = list(read_items([{"x": 1}, SPAN, {"y": 2}], source="f", report=problems.append))
    assert len(records) == 1
    assert [(p.where, p.message, p.severity) for p in problems] == [
        (
            "f value 1",
            "no trace container matches an object with the keys 'x' (and 1 more)",
            "warning",
        )
    ]
    with pytest.raises(UnknownFormatError):
        list(read_items([SPAN, {"x": 1}], source="f"))


def test_only_unknown_values_are_an_error_even_with_a_listener():
    with pytest.raises(UnknownFormatError):
        list(read_items([{"x": 1}], source="f", report=lambda problem: None))


def test_table_lists_each_container_under_its_own_name():
    assert [container.name for container in builtin_containers()] == [*BUILTIN]


def test_lines_that_two_containers_claim_are_a_warning():
    lines: list[Json] = [
        {"timestamp": "2026-03-03T09:00:00Z", "type": "message", "role": "user", "content": "Hi"},
        {"type": "tool_result", "tool": "shell", "output": "x"},
    ]
    problems: list[Problem] = []
    list(read_items(lines, source="f", report=problems.append))
    assert [problem.message for problem in problems] == [
        "lines of several kinds were read apart from each other: 1 × gemini-cli-stream, 1 × chat"
    ]


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ({"object": "chat.completion", "choices": []}, "a model's response"),
        (
            {"event": "on_tool_start", "run_id": "r", "name": "find", "data": {}},
            "a stream of LangChain's events",
        ),
        ({"ts": 1, "type": "say", "say": "text"}, "the list of messages that Cline shows"),
        (
            {"title": "Hours", "create_time": 1, "mapping": {}},
            "ChatGPT's data export",
        ),
        ({"traceEvents": []}, "a profile of a program in Chrome's format"),
        ({"gen_ai.operation.name": "chat"}, "the attributes of a span"),
    ],
)
def test_known_kind_of_file_that_is_not_read_is_named(item: Json, name: str):
    with pytest.raises(
        UnknownFormatError, match=f"^f value 1: {name} is not a supported"
    ) as caught:
        list(read_items([item], source="f"))
    assert caught.value.hint
