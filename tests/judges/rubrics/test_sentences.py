from __future__ import annotations

from carob.judges.rubrics.builtin import builtin_metric
from carob.judges.rubrics.definitions import definition_class
from carob.metrics import build
from carob.schema import (
    AgentMessage,
    Case,
    Failed,
    Score,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    Unscored,
)
from tests.judges.rubrics.scripted import Scripted, details, in_turn, judged, labels

HALLUCINATIONS = builtin_metric("hallucinations_v1")
CASE = Case.of("Where is A7?", id="c")


def trace(*responses: str, messages: tuple[str, ...] = ()) -> Trace:
    turns = (
        Turn(
            user="Where is A7?",
            response=response,
            tool_calls=(ToolCall(name="find"),),
            tool_results=(ToolResult(name="find", result={"place": "Porto"}),),
            messages=tuple(AgentMessage(agent="desk", text=text) for text in messages),
        )
        for response in responses
    )
    return Trace(id="t", turns=tuple(turns))


def test_share_of_sentences_that_are_supported_or_claim_nothing():
    ask = in_turn(
        [labels("not_applicable", "supported", "unsupported", "contradictory", "disputed")]
    )
    text = "Hello! A7 is in Porto. It is blue. It is in Faro.\n- It may be in Porto"
    outcome = judged(HALLUCINATIONS(), CASE, trace(text), ask)
    assert isinstance(outcome, Score)
    assert outcome.value == 2 / 5
    assert outcome.reason == (
        "unsupported: 'It is blue.'; contradictory: 'It is in Faro.'; "
        "disputed: '- It may be in Porto'"
    )
    assert [sentence["label"] for sentence in details(outcome, "sentences")][:2] == [
        "not_applicable",
        "supported",
    ]


def test_tool_results_are_shown_and_the_response_is_no_source():
    ask = in_turn([labels("supported")])
    judged(HALLUCINATIONS(), CASE, trace("A7 is in Porto."), ask)
    prompt = ask.questions[0].prompt
    assert '"place":"Porto"' in prompt
    assert "<<<response" not in prompt
    assert "sentence_1\n    A7 is in Porto." in prompt


def test_majority_counts_sentence_by_sentence_and_a_tie_loses():
    said = [labels("supported", "supported"), labels("unsupported", "not_applicable")]
    outcome = judged(HALLUCINATIONS(samples=2), CASE, trace("One. Two."), in_turn(said))
    assert isinstance(outcome, Score)
    assert outcome.value == 0.5
    assert details(outcome, "sentences")[0]["votes"] == ["supported", "unsupported"]
    assert outcome.details["agreement"] == 0.75


def test_turns_count_the_same_however_many_sentences_they_have():
    answers = {"One.": labels("unsupported"), "Two.": labels(*["supported"] * 3)}
    ask = Scripted(
        lambda question: answers[
            "One." if "One." in question.prompt.split("<<<sentences")[1] else "Two."
        ]
    )
    outcome = judged(HALLUCINATIONS(), CASE, trace("One.", "Two. Three. Four."), ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == (0.0, 1.0)
    assert outcome.value == 0.5


def test_what_was_said_on_the_way_counts_where_it_is_asked_for():
    made = build(
        HALLUCINATIONS.name,
        {"evaluate_intermediate_nl_responses": True},
        {HALLUCINATIONS.name: HALLUCINATIONS},
    )
    ask = in_turn([labels("unsupported", "unsupported"), labels("supported")])
    outcome = judged(made, CASE, trace("In Porto.", messages=("I look. I think.",)), ask)
    assert isinstance(outcome, Score)
    assert outcome.value == 0.5  # of two texts, not of three sentences


def test_long_responses_are_asked_about_in_parts():
    ask = Scripted(lambda question: labels(*["supported"] * len(question.answer.__struct_fields__)))
    outcome = judged(HALLUCINATIONS(), CASE, trace("A line.\n" * 24), ask)
    assert isinstance(outcome, Score)
    assert [len(question.answer.__struct_fields__) for question in ask.questions] == [10, 10, 4]


def test_responses_without_a_sentence_or_with_too_many_are_unscored():
    nothing = Unscored(reason="the response has no sentences", not_applicable=True)
    too_many = Unscored(reason="the response has too many sentences: 301, at most 300")
    for text, expected in (("", nothing), ("---", nothing), ("One. " * 301, too_many)):
        assert judged(HALLUCINATIONS(), CASE, trace(text), in_turn([])) == expected


def test_part_that_nobody_answers_fails_the_whole():
    said = [labels(*["supported"] * 10), Failed(kind="Timeout", message="late")]
    outcome = judged(HALLUCINATIONS(), CASE, trace("A line.\n" * 12), in_turn(said))
    assert outcome == Failed(kind="Timeout", message="late")


def test_grounding_is_unscored_without_a_context():
    made = definition_class("g", {"is_managed": True, "managed_metric_name": "GROUNDING"})
    assert judged(made(), CASE, trace("x"), in_turn([])) == Unscored(
        reason="the case has no context", not_applicable=True
    )
