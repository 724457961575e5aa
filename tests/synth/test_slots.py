from __future__ import annotations

import msgspec
import pytest

from carob.schema import Case, CaseSession, ToolCall
from tests.synth.shop import FERN, ROSE, SOIL, order_case, users, variants, vary, world


def calls(case: Case) -> list[ToolCall]:
    return [call for turn in case.turns for call in turn.tool_calls or ()]


def test_a_changed_value_changes_the_call_and_forgets_the_answer():
    variant = vary("changed_slot", FERN)
    assert variant is not None
    assert variant.slot == "order_id"
    assert users(variant.case) == ["Where is my order GS-2077?"]
    assert calls(variant.case)[0].args == {"order_id": "GS-2077"}
    turn = variant.case.turns[0]
    assert (turn.response, turn.tool_results) == (None, ())
    assert (variant.case.state, variant.case.contains) == (None, None)


def test_a_request_is_not_changed_because_the_calls_after_the_first_are_not_known():
    order = order_case("back", "I want to return order GS-3001.", order_id="GS-3001")
    assert not variants("changed_slot", order, world(FERN, order))


def test_a_schema_fills_a_slot_with_the_values_that_it_allows():
    texts = {str(users(variant)) for variant in variants("filled_slot", ROSE)}
    assert texts == {
        "['Where is my order GS-2077 by bike?']",
        "['Where is my order GS-2077 by post?']",
    }


def test_without_a_required_value_the_agent_has_to_ask():
    (variant, *_) = variants("missing_slot", FERN)
    assert users(variant) == ["Where is my order?"]
    turn = variant.turns[0]
    assert (turn.response, turn.tool_calls) == (None, None)
    assert [rubric.id for rubric in turn.rubrics] == ["asks_for_order_id"]


def test_an_optional_value_is_not_left_out():
    carrier = order_case("c", "Is my order here, and does it come by van?", carrier="van")
    assert not variants("missing_slot", carrier)


def test_a_value_that_the_session_knows_is_not_missing():
    session = CaseSession(app="shop", user="u", state={"last_order": "GS-1041"})
    assert not variants("missing_slot", msgspec.structs.replace(FERN, session=session))


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("My fern is dry. The order is GS-1041. What now?", "My fern is dry. What now?"),
        ("Please change the address of order GS-1041.", "Please change the address."),
        ("Send GS-1041 back.", None),
    ],
)
def test_the_words_that_introduce_a_value_go_with_it(message: str, left: str | None):
    case = order_case("m", message, order_id="GS-1041")
    made = variants("missing_slot", case, world(case))
    assert [users(variant)[0] for variant in made[:1]] == ([left] if left else [])


def test_an_unknown_id_has_the_form_of_a_known_one_and_is_in_no_case():
    for variant in variants("unknown_id", FERN):
        (call,) = calls(variant)
        unknown = msgspec.convert(call.args, dict[str, str])["order_id"]
        assert unknown.startswith("GS-")
        assert len(unknown) == 7
        assert unknown not in ("GS-1041", "GS-2077")
        assert unknown in (variant.turns[0].user or "")
        (result,) = variant.turns[0].tool_results
        assert result.error == f"order id {unknown} does not exist"
        assert variant.turns[0].response is None


def test_a_case_without_calls_has_no_slots():
    for relation in ("changed_slot", "filled_slot", "missing_slot", "unknown_id"):
        assert not variants(relation, SOIL)
