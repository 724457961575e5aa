from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from carob.datasets.formats.adk_history import AdkHistoryFormat
from carob.datasets.shape_errors import find_shape_errors
from carob.datasets.source import open_source
from carob.errors import FormatError
from carob.schema import Case, CaseSession, Json, Problem, ToolCall, Trace

Object = dict[str, Json]

SAMPLES = Path(__file__).parents[2] / "samples" / "adk-history"
FORM = AdkHistoryFormat()


def sample(name: str) -> Object:
    return cast("Object", open_source(SAMPLES / name).document)


def cases(document: Json) -> list[Case]:
    lens = FORM.cases("document")
    return [lens.read(item) for item in FORM.items(document)]


def content(text: str) -> Json:
    return {"parts": [{"text": text}]}


def result(**fields: Json) -> Object:
    return {"eval_id": "greeting", "final_eval_status": 1, "session_id": "s1", **fields}


def read(doc: Json) -> tuple[Case, Trace]:
    case = FORM.cases("document").read(doc)
    assert case.recorded
    return case, case.recorded


def test_result_is_a_case_with_its_trace():
    case, *_ = cases(sample("wrapped.evalset_result.json"))
    trace = case.recorded
    assert case.id == "order_status"
    assert case.turns[0].response == "Order 8812 will be with you on Thursday."
    assert case.turns[0].tool_calls == (ToolCall(name="find_order", args={"order_id": "8812"}),)
    assert case.session == CaseSession(app="shop", user="u-1")
    assert trace
    assert (trace.id, trace.case) == ("s-1", "order_status")
    assert trace.state == {"order_id": "8812"}
    assert trace.turns[0].response == "It arrives on Thursday."
    assert trace.usage.total_tokens == 693


def test_without_session_details_the_trace_comes_from_the_invocations():
    _, case = cases(sample("wrapped.evalset_result.json"))
    trace = case.recorded
    assert trace
    assert trace.id == "s-2"
    assert trace.turns[0].user == "Where is my order 8812?"
    assert [call.name for call in trace.turns[0].tool_calls or ()] == ["find_order"]


def test_scores_are_attributes_of_the_trace():
    scores: Json = [{"metric_name": "response_match_score", "score": 0.5}]
    inner: Json = {
        "actual_invocation": {"user_content": content("Hi")},
        "eval_metric_results": scores,
    }
    _, trace = read(
        result(
            overall_eval_metric_results=scores,
            eval_metric_result_per_invocation=[inner],
            eval_metric_results=None,
            grade="B",
        )
    )
    assert trace.attributes == {
        "final_eval_status": 1,
        "overall_eval_metric_results": scores,
        "invocation_metric_results": [scores],
        "grade": "B",
    }


def test_turns_of_an_old_file_in_camel_case_come_from_its_events():
    (case,) = cases(sample("old.json"))
    assert [turn.user for turn in case.turns] == ["Hi"]
    assert case.turns[0].response is None
    assert case.recorded
    assert case.recorded.turns[0].response == "Hello!"
    assert case.session == CaseSession(app="shop", user="u-2")


def test_both_spellings_of_a_result_are_read_alike():
    invocations: Json = [{"actualInvocation": {"userContent": content("Hi")}}]
    camel: Object = {
        "evalId": "greeting",
        "finalEvalStatus": 1,
        "sessionId": "s1",
        "evalMetricResultPerInvocation": invocations,
    }
    snake = result(
        eval_metric_result_per_invocation=[{"actual_invocation": {"user_content": content("Hi")}}]
    )
    assert read(camel) == read(snake)


def test_dataset_has_the_name_of_the_eval_set():
    header = FORM.header("document", "stem")
    dataset = header.read({**sample("old.json"), "eval_case_results": []})
    assert dataset.name == "shop"
    assert dataset.metadata == {"eval_set_result_id": "old_1"}
    assert dataset.created_at == "2025-11-06T11:53:20Z"
    assert header.read({}).name == "stem"


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_every_sample_is_claimed_and_valid(path: Path):
    document = open_source(path).document
    problems = [problem for item in FORM.items(document) for problem in FORM.check(item)]
    assert FORM.claims(document)
    assert list(find_shape_errors(document, FORM.shape)) == []
    assert problems == []


BROKEN: list[tuple[Object, str, str, str]] = [
    (result(session_details=None), "$", "missing fields 'session_details'", "warning"),
    (
        result(final_eval_status=7, session_details={"events": []}),
        "$.final_eval_status",
        "expected one of 1 (passed)",
        "error",
    ),
    (result(eval_id=None, session_details={"events": []}), "$", "missing field 'eval_id'", "error"),
]


@pytest.mark.parametrize(("doc", "where", "message", "severity"), BROKEN)
def test_broken_rule_is_reported_with_its_path(
    doc: Object, where: str, message: str, severity: str
):
    (problem,) = list[Problem](FORM.check(doc))
    assert (problem.where, problem.severity) == (where, severity)
    assert problem.message.startswith(message)


def test_wrong_type_is_reported_with_its_path():
    with pytest.raises(FormatError) as caught:
        read(result(eval_metric_result_per_invocation=[{"expected_invocation": 3}]))
    assert caught.value.where == "$.eval_metric_result_per_invocation[0].expected_invocation"


def test_empty_result_is_readable():
    case, trace = read({})
    assert case.turns == trace.turns == ()
