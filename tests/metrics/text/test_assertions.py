"""Tests for the metric `assertions`. That it decides as promptfoo does is tested with its results,
in `tests/datasets/test_promptfoo_results.py`."""

from __future__ import annotations

from typing import Any

import pytest

from carob.metrics.metric import evaluate
from carob.metrics.text.assertions import Assertions
from carob.schema import Case, Failed, Json, Score, ToolCall, Trace, Turn, Unscored

LIMITS = "'word-count' needs a number, or `min` and `max`"
RE2_MESSAGE = "unsupported regular expression '(?=x)': RE2 has no lookaround ('(?=')"


def score(*assertions: Any, turn: Turn | None = None) -> Any:
    case = Case(id="c", reference={"assertions": list(assertions)} if assertions else {})
    answer = turn or Turn(user="Open?", response="Yes, until 18:00.")
    return evaluate(Assertions(), case, Trace(id="t", turns=(answer,)))


def test_case_without_assertions_is_not_applicable():
    assert score() == Unscored(reason="the case states no assertions", not_applicable=True)


def test_sentences_under_the_same_key_are_not_assertions():
    assert score("The answer is polite").not_applicable


def test_share_of_assertions_that_hold_and_those_that_do_not():
    outcome = score({"type": "icontains", "value": "YES"}, {"type": "not-contains", "value": "18"})
    assert outcome == Score(value=0.5, reason="does not hold: not-contains '18'")


@pytest.mark.parametrize(
    ("assertion", "message"),
    [
        ({"type": "soundex", "value": "x"}, "unknown type 'soundex'"),
        (
            {"type": "contains", "value": "x", "treshold": 1},
            "Object contains unknown field `treshold` - at `$[0]`",
        ),
        ({"type": "contains", "value": ""}, "'contains' needs a text"),
        ({"type": "contains-all"}, "'contains-all' needs a text"),
        ({"type": "contains-any", "value": ["", "refund"]}, "'contains-any' needs a text"),
        ({"type": "not-contains-all", "value": []}, "'not-contains-all' needs a text"),
        ({"type": "latency"}, "'latency' needs a threshold"),
        ({"type": "regex", "value": "(?=x)"}, RE2_MESSAGE),
        ({"type": "regex", "value": ""}, "'regex' needs a text"),
        ({"type": "not-equals"}, "'not-equals' needs a value"),
        ({"type": "not-regex"}, "'not-regex' needs a text"),
        ({"type": "not-levenshtein"}, "'not-levenshtein' needs a value"),
        ({"type": "not-starts-with"}, "'not-starts-with' needs a text"),
        (
            {"type": "not-starts-with", "value": ["Yes", "No"]},
            "'not-starts-with' needs a single text",
        ),
        ({"type": "word-count", "value": {}}, LIMITS),
        ({"type": "word-count", "value": {"minimum": 4}}, LIMITS),
        ({"type": "word-count", "value": {"max": None}}, LIMITS),
        ({"type": "word-count", "value": {"min": "4"}}, "'word-count' needs numbers"),
        ({"type": "word-count", "value": {"max": "4"}}, "'word-count' needs numbers"),
        (
            {"type": "is-json", "value": "file://order.schema.json"},
            "'is-json' needs a JSON Schema, found 'file://order.schema.json'",
        ),
        ({"type": "not-trajectory:tool-used"}, "'not-trajectory:tool-used' needs a text"),
        ({"type": "trajectory:tool-used", "value": []}, "'trajectory:tool-used' needs a text"),
        (
            {"type": "not-trajectory:tool-used", "value": {"min": 2}},
            "'not-trajectory:tool-used' needs the name of a tool",
        ),
        (
            {"type": "not-trajectory:tool-used", "value": {"most": 3, "least": 2}},
            "'not-trajectory:tool-used' has no 'least', 'most'",
        ),
        (
            {"type": "trajectory:tool-used", "value": {"name": "refund", "min": "2"}},
            "'trajectory:tool-used' needs whole numbers",
        ),
        (
            {"type": "not-trajectory:tool-used", "value": {"name": "refund", "max": 1.5}},
            "'trajectory:tool-used' needs whole numbers",
        ),
    ],
)
def test_invalid_assertion_fails_and_never_passes(assertion: Any, message: str):
    turn = Turn(user="Open?", response="{}", start=0, end=10**6, tool_calls=())
    outcome = score(assertion, turn=turn)
    assert isinstance(outcome, Failed)
    assert outcome.message == message


def test_invalid_assertion_is_named_as_such():
    assert score({"type": "soundex", "value": "x"}) == (
        Failed(kind="invalid assertion", message="unknown type 'soundex'")
    )
    assert score({"type": "contains", "of": 1}).kind == "invalid assertion"


def test_reason_is_empty_if_all_hold_and_shows_a_threshold_that_was_not_kept():
    slow = Turn(user="Open?", response="Yes", start=0, end=800 * 10**6)
    assert score({"type": "latency", "threshold": 800}, turn=slow) == Score(value=1.0)
    outcome = score({"type": "latency", "threshold": 20.5}, {"type": "is-json"}, turn=slow)
    assert outcome == Score(value=0.0, reason="does not hold: latency 20.5; is-json")


def test_agent_that_failed_before_it_answered_scores_zero():
    failed = Turn(user="Open?", error="HTTP 500")
    outcome = score({"type": "contains", "value": "Yes"}, turn=failed)
    assert outcome == Score(value=0.0, reason="no response: HTTP 500")


def test_missing_response_is_zero_and_unrecorded_calls_are_unscored():
    assert score({"type": "not-contains", "value": "x"}, turn=Turn(user="Open?")).value == 0.0
    assert isinstance(score({"type": "trajectory:tool-used", "value": "x"}), Unscored)
    assert isinstance(score({"type": "latency", "threshold": 5}), Unscored)


def test_trace_without_turns_and_a_clock_that_was_set_back_decide_nothing():
    unused: Json = {"type": "not-trajectory:tool-used", "value": "refund"}
    case = Case(id="c", reference={"assertions": [unused]})
    assert Assertions().score(case, Trace(id="t")) == Unscored("tool calls were not recorded")
    backwards = Turn(user="Open?", response="Yes", start=10**9, end=0)
    assert score({"type": "latency", "threshold": 5}, turn=backwards) == Unscored(
        reason="the recorded end is before the start"
    )


@pytest.mark.parametrize(
    ("kind", "value", "holds"),
    [
        ("trajectory:tool-used", "find_order", True),
        ("trajectory:tool-used", ["find_order", "refund"], False),
        ("not-trajectory:tool-used", ["find_order", "refund"], False),
        ("not-trajectory:tool-used", "refund", True),
        ("trajectory:tool-used", {"pattern": "find_*"}, True),
        ("trajectory:tool-used", {"pattern": "find_*", "max": 1}, False),
        ("trajectory:tool-used", {"name": "find_order", "min": 2}, True),
        ("trajectory:tool-used", {"name": "refund", "min": 0, "max": 0}, True),
        ("trajectory:tool-used", {"name": "refund"}, False),
        ("trajectory:tool-used", {"name": "greet"}, True),
    ],
)
def test_tools_are_counted(kind: str, value: Any, holds: bool):
    calls = tuple(ToolCall(name=name) for name in ("find_order", "greet", "find_order"))
    turn = Turn(user="Where?", response="Here", tool_calls=calls)
    assert score({"type": kind, "value": value}, turn=turn).value == float(holds)


def test_latency_is_that_of_the_trace():
    turn = Turn(user="Open?", response="Yes", start=0, end=800 * 10**6)
    assert score({"type": "latency", "threshold": 800}, turn=turn).value == 1.0
    assert score({"type": "latency", "threshold": 799}, turn=turn).value == 0.0


@pytest.mark.parametrize(
    ("kind", "value", "holds"),
    [
        ("equals", "Yes, until 18:00.", True),
        ("equals", "yes, until 18:00.", False),
        ("contains", "until", True),
        ("contains", "UNTIL", False),
        ("contains-any", ["never", "until"], True),
        ("contains-any", ["never", "not"], False),
        ("contains-all", ["Yes", "until"], True),
        ("contains-all", ["Yes", "never"], False),
        ("icontains-any", ["NEVER", "UNTIL"], True),
        ("icontains-all", ["YES", "NEVER"], False),
        ("starts-with", "Yes", True),
        ("starts-with", "until", False),
        ("word-count", 3, True),
        ("word-count", 2, False),
        ("word-count", {"min": 3}, True),
        ("word-count", {"min": 4}, False),
        ("word-count", {"max": 3}, True),
        ("word-count", {"max": 2}, False),
        ("is-json", None, False),
        ("levenshtein", "Yes, until 18:05.", True),
        ("levenshtein", "Yes", False),
    ],
)
def test_each_type_of_assertion(kind: str, value: Any, holds: bool):
    assertion = {"type": kind} | ({} if value is None else {"value": value})
    assert score(assertion).value == float(holds)
    assert score(assertion | {"type": f"not-{kind}"}).value == float(not holds)


def test_empty_response_has_no_words():
    turn = Turn(user="Open?", response=" ")
    assert score({"type": "word-count", "value": {"max": 3}}, turn=turn).value == 1.0
    assert score({"type": "word-count", "value": {"min": 1}}, turn=turn).value == 0.0


def test_response_that_is_json_is_compared_as_such():
    turn = Turn(user="?", response='{"open": true,  "until": 18}')
    schema = {"type": "object", "required": ["until"]}
    assert score({"type": "equals", "value": {"until": 18, "open": True}}, turn=turn).value == 1.0
    assert score({"type": "equals", "value": {"until": 19, "open": True}}, turn=turn).value == 0.0
    assert score({"type": "equals", "value": {"until": 18, "open": 1}}, turn=turn).value == 0.0
    assert score({"type": "equals", "value": ["x"]}).value == 0.0  # the response is no JSON
    assert score({"type": "is-json"}, turn=turn).value == 1.0
    assert score({"type": "is-json", "value": schema}, turn=turn).value == 1.0
    required = {"type": "object", "required": ["from"]}
    assert score({"type": "is-json", "value": required}, turn=turn).value == 0.0


def test_distance_is_that_of_promptfoo_unless_the_assertion_says_otherwise():
    near = {"type": "levenshtein", "value": "Yes, until 18:00.12345"}
    assert score(near).value == 1.0
    assert score(near | {"value": "Yes, until 18:00.123456"}).value == 0.0
    assert score(near | {"threshold": 4}).value == 0.0
