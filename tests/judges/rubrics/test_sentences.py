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
from tests.judges.rubrics.scripted_ask import (
    ScriptedAsk,
    answer_in_order,
    details,
    judge_pair,
    labels,
)

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


def test_score_is_the_share_of_supported_or_not_applicable_sentences():
    ask = answer_in_order(
        [labels("not_applicable", "supported", "unsupported", "contradictory", "disputed")]
    )
    text = "Hello! A7 is in Porto. It is blue. It is in Faro.\n- It may be in Porto"
    outcome = judge_pair(HALLUCINATIONS(), CASE, trace(text), ask)
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


def test_tool_results_are_sources_and_the_response_is_not():
    ask = answer_in_order([labels("supported")])
    judge_pair(HALLUCINATIONS(), CASE, trace("A7 is in Porto."), ask)
    prompt = ask.questions[0].prompt
    assert '"place":"Porto"' in prompt
    assert "<<<response" not in prompt
    assert "sentence_1\n    A7 is in Porto." in prompt


def test_majority_decides_each_sentence_and_a_tie_fails():
    answers = [labels("supported", "supported"), labels("unsupported", "not_applicable")]
    outcome = judge_pair(
        HALLUCINATIONS(samples=2), CASE, trace("One. Two."), answer_in_order(answers)
    )
    assert isinstance(outcome, Score)
    assert outcome.value == 0.5
    assert details(outcome, "sentences")[0]["votes"] == ["supported", "unsupported"]
    assert outcome.details["agreement"] == 0.75


def test_turns_have_equal_weight_for_any_number_of_sentences():
    answers = {"One.": labels("unsupported"), "Two.": labels(*["supported"] * 3)}
    ask = ScriptedAsk(
        lambda question: answers[
            "One." if "One." in question.prompt.split("<<<sentences")[1] else "Two."
        ]
    )
    outcome = judge_pair(HALLUCINATIONS(), CASE, trace("One.", "Two. Three. Four."), ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == (0.0, 1.0)
    assert outcome.value == 0.5


def test_intermediate_messages_are_judged_if_configured():
    judge = build(
        HALLUCINATIONS.name,
        {"evaluate_intermediate_nl_responses": True},
        {HALLUCINATIONS.name: HALLUCINATIONS},
    )
    ask = answer_in_order([labels("unsupported", "unsupported"), labels("supported")])
    outcome = judge_pair(judge, CASE, trace("In Porto.", messages=("I look. I think.",)), ask)
    assert isinstance(outcome, Score)
    assert outcome.value == 0.5  # of two texts, not of three sentences


def test_long_responses_are_split_into_several_questions():
    ask = ScriptedAsk(
        lambda question: labels(*["supported"] * len(question.answer.__struct_fields__))
    )
    outcome = judge_pair(HALLUCINATIONS(), CASE, trace("A line.\n" * 24), ask)
    assert isinstance(outcome, Score)
    assert [len(question.answer.__struct_fields__) for question in ask.questions] == [10, 10, 4]


def test_responses_without_a_sentence_or_with_too_many_are_unscored():
    nothing = Unscored(reason="the response has no sentences", not_applicable=True)
    too_many = Unscored(reason="the response has too many sentences: 301, at most 300")
    for text, expected in (("", nothing), ("---", nothing), ("One. " * 301, too_many)):
        assert judge_pair(HALLUCINATIONS(), CASE, trace(text), answer_in_order([])) == expected


def test_failed_part_fails_the_metric():
    answers = [labels(*["supported"] * 10), Failed(kind="Timeout", message="late")]
    outcome = judge_pair(HALLUCINATIONS(), CASE, trace("A line.\n" * 12), answer_in_order(answers))
    assert outcome == Failed(kind="Timeout", message="late")


def test_grounding_is_unscored_without_a_context():
    judge_type = definition_class("g", {"is_managed": True, "managed_metric_name": "GROUNDING"})
    assert judge_pair(judge_type(), CASE, trace("x"), answer_in_order([])) == Unscored(
        reason="the case has no context", not_applicable=True
    )
