from __future__ import annotations

import pytest

from carob.schema import Json
from carob.targets.mocks import ToolError, ToolMocks, golden_results
from tests.synth.shop import FERN, SOIL, users, variants, world


def test_a_failing_tool_fails_for_any_arguments_in_a_live_run_with_mocks():
    (variant, *_) = variants("tool_error", FERN)
    mocks = ToolMocks(results=golden_results(variant))
    calls: list[dict[str, Json]] = [{"order_id": "GS-1041"}, {"order_id": "gs1041"}]
    for args in calls:
        with pytest.raises(ToolError) as error:
            mocks.call("find_order", args, None)
        assert str(error.value) in variant.turns[0].rubrics[0].text


def test_a_failing_tool_leaves_no_expected_answer_or_calls():
    (variant, *_) = variants("tool_error", FERN)
    assert users(variant) == users(FERN)
    assert (variant.turns[0].response, variant.turns[0].tool_calls) == (None, None)
    assert (variant.state, variant.contains) == (None, None)


def test_a_chain_passes_a_field_of_the_recorded_result():
    (variant, *_) = variants("call_chain", FERN)
    assert users(variant) == [
        "Where is my order GS-1041? Then track parcel with the parcel that you get."
    ]
    first, second = variant.turns[0].tool_calls or (None, None)
    assert (first,) == FERN.turns[0].tool_calls
    assert second is not None
    assert (second.name, second.args) == ("track_parcel", {"parcel": "P-fern"})


def test_a_field_of_another_type_makes_no_chain():
    schema: Json = {"properties": {"parcel": {"type": "integer"}}, "required": ["parcel"]}
    tools: Json = [{"name": "track", "parameters": schema}]
    assert not variants("call_chain", FERN, world(FERN, tools=tools))


def test_a_case_without_calls_has_no_tool_that_fails():
    assert not variants("tool_error", SOIL)
