"""Faults that offline text metrics are known for, and that these must not have."""

from __future__ import annotations

import pytest

from carob.metrics import Metric
from carob.metrics.text import limits
from carob.metrics.text.coherence import Coherence
from carob.metrics.text.conciseness import Conciseness
from carob.metrics.text.consistency import Consistency
from carob.metrics.text.factuality import Completeness, Factuality, find_letters
from carob.metrics.text.hallucination import Hallucination
from carob.metrics.text.relevance import Relevance
from carob.schema import Case, Score, ToolResult, Trace, Turn, Unscored
from tests.agreement import HALLUCINATION_THRESHOLD

ALL: tuple[Metric, ...] = (
    Coherence(),
    Completeness(),
    Conciseness(),
    Consistency(),
    Factuality(),
    Hallucination(),
    Relevance(),
)
CAPITAL = Case.of("What is the capital of France?", "Paris")


def judge(metric: Metric, case: Case, *responses: str) -> Score:
    outcome = metric.score(case, Trace(id="t", turns=tuple(Turn(response=r) for r in responses)))
    assert isinstance(outcome, Score)
    return outcome


def passed(metric: Metric, case: Case, *responses: str) -> bool:
    threshold = HALLUCINATION_THRESHOLD if metric.threshold is None else metric.threshold
    return judge(metric, case, *responses).value >= threshold


@pytest.mark.parametrize(
    ("expected", "wrong"),
    [
        ("Take 200 mg a day.", "Take 200 g a day."),
        ("Heat it to 74 °C.", "Heat it to 74 °F."),
        ("It costs 5 euros.", "It costs 5 dollars."),
        ("Die Garantie gilt acht Monate.", "Die Garantie gilt drei Monate."),
        ("Take it before lunch.", "Take it after lunch."),
        ("Sales rose in March.", "Sales fell in March."),
        ("Only admins can delete it.", "Everyone can delete it."),
        ("The value was -5.", "The value was 5."),
    ],
)
@pytest.mark.parametrize(
    "metric", [Consistency(), Factuality(), Hallucination()], ids=lambda metric: metric.name
)
def test_one_wrong_word_fails(metric: Metric, expected: str, wrong: str):
    pytest.importorskip("text_to_num")
    case = Case.of("Please tell me.", expected, context=expected)
    assert not passed(metric, case, wrong)
    assert passed(metric, case, expected)


@pytest.mark.parametrize(
    ("expected", "same"),
    [
        ("It ends on 14 May.", "It ends on the 14th of May."),
        ("1.5 million people live there.", "1,500,000 people live there."),
        ("It starts at 16:00.", "It starts at 4 pm."),
        ("Das kostet 1.200,50 Euro.", "Das kostet 1200,50 €."),
        ("He is 1.80 m tall.", "He is 180 cm tall."),
        ("It is due on 2026-03-05.", "It is due on 5 March 2026."),
    ],
)
@pytest.mark.parametrize(
    "metric",
    [Completeness(), Consistency(), Factuality(), Hallucination()],
    ids=lambda metric: metric.name,
)
def test_other_notation_of_the_same_fact_passes(metric: Metric, expected: str, same: str):
    pytest.importorskip("text_to_num")
    case = Case.of("Please tell me.", expected, context=expected)
    assert judge(metric, case, same).value == 1.0


def test_hallucination_is_informational():
    assert Hallucination.threshold is None


@pytest.mark.parametrize("metric", [Factuality(), Hallucination()], ids=lambda metric: metric.name)
def test_wrong_capital_passes_nowhere(metric: Metric):
    assert not passed(metric, CAPITAL, "The capital of France is London.")
    assert passed(metric, CAPITAL, "The capital of France is Paris.")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I log in?", "Visit the start page and enter your email."),
        ("What are your hours?", "We are open 9-6 EST from Monday to Friday."),
        ("Is there a mobile app?", "Yes, in both stores."),
        ("Can I export my data?", "CSV and JSON are included in all plans."),
    ],
)
@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_perfect_answer_passes_everywhere(metric: Metric, question: str, expected: str):
    case = Case.of(question, expected, context=f"From the manual: {expected}")
    assert passed(metric, case, expected)


@pytest.mark.parametrize(
    ("expected", "wrong", "right"),
    [
        ("C", "B", "The answer is C."),
        ("The answer is C.", "B is the answer.", "C is the answer."),
        ("Option B", "Option D", "B)"),
        ("Go to Terminal A.", "Go to Terminal B.", "Terminal A, at the end."),
        ("**B**", "'D'", "'B'"),
        ("Take plan B, not plan A.", "Take plan C.", "Take plan B."),
    ],
)
def test_another_letter_is_another_answer(expected: str, wrong: str, right: str):
    case = Case.of("Which one?", expected)
    assert not passed(Factuality(), case, wrong)
    assert "letter: expected " in judge(Factuality(), case, wrong).reason
    assert "letter" not in judge(Factuality(), case, right).reason


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("(C) or **D**, 'E', B.", "CDEB"),
        ("The answer is C. The reason is X.", "CX"),
        ("Option B", "B"),
        ("Gates A and B. Gate D.", "BD"),
        ("A dog barks at X.", "X"),
        ("It barks. A dog. E poi Z", "Z"),
        ("E poi B", "B"),
        ("Una casa\nE poi B", "B"),
        ("Take E now. B is right", "EB"),
        ("Answer: B because it fits", "B"),
        ("- K pan\n• C here", "C"),
        ("Terminal A", "A"),
        ("Vitamin A helps", ""),
        ("I am X", "X"),
        ("J. Smith and John F. Kennedy like Y", "Y"),
        ("5 K", ""),
        ("20 V, 5L, 37 C or M", "M"),
        ("C++, C#, R&D, T-shirt, A/B, x=B, U.S., D'Angelo, C", "BC"),
        ("regał B", "B"),
    ],
)
def test_single_letters_that_name_something(text: str, letters: str):
    assert "".join(find_letters(text)) == letters


@pytest.mark.parametrize(
    ("expected", "same"),
    [
        ("A refund takes a week.", "Refunds take a week with model X."),
        ("Ask John F. Kennedy.", "Ask John Kennedy, in hall B."),
        ("I am here, at home.", "At home, in flat B."),
        ("It weighs 5 T.", "It weighs 5 t, in size M."),
        ("Use C++ or R&D.", "Use C++ or R&D, as in plan X."),
        ("Made in the U.S. today.", "Made in the U.S. today, by team A."),
        ("W sklepie jest mleko.", "Jest mleko w sklepie, regał B."),
    ],
)
def test_words_initials_and_units_of_one_letter_are_no_answers(expected: str, same: str):
    assert "letter" not in judge(Factuality(), Case.of("Tell me.", expected), same).reason


@pytest.mark.parametrize(
    ("expected", "response"),
    [
        ("👍", "No idea"),
        ("👍", "👎"),
        ("👍", ""),
        ("👍", "It is."),
        ("", "No idea"),
        ("C", "Paris"),
    ],
)
def test_expected_response_without_facts_passes_only_the_same_response(
    expected: str, response: str
):
    case = Case.of("Was it good?", expected)
    trace = Trace(id="t", turns=(Turn(response=response),))
    reason = "the expected response states no facts that could be compared"
    assert Factuality().score(case, trace) == Unscored(reason)
    assert Completeness().score(case, trace) == Unscored(reason, not_applicable=True)
    assert judge(Factuality(), case, f" {expected}\n").value == 1.0


@pytest.mark.parametrize(
    ("expected", "response", "value"),
    [("Yes", "Yes, it is", 1.0), ("Yes", "no", 0.5), ("No.", "No", 1.0), ("It is.", "it is.", 1.0)],
)
def test_answers_without_facts_are_the_same_or_not(expected: str, response: str, value: float):
    assert judge(Factuality(), Case.of("Is it?", expected), response).value == value


def test_negation_is_detected():
    case = Case.of("Is PayPal available?", "PayPal and vouchers are not available.")
    assert not passed(Factuality(), case, "PayPal and vouchers are available.")
    assert passed(Factuality(), case, "PayPal and vouchers aren't available.")


def test_negation_alone_is_not_a_contradiction():
    case = Case(id="c", context="Parcels cannot be sent to islands. Letters can.")
    assert passed(Consistency(), case, "Parcels cannot be sent to islands.")
    assert not passed(Consistency(), case, "Parcels can be sent to islands.")


def test_response_can_contradict_an_earlier_response():
    turns = "The shop opens at 9 on Sunday.", "The shop opens at 11 on Sunday."
    score = judge(Consistency(), Case(id="c"), *turns)
    assert score.turns == (1.0, pytest.approx(1 / 3))
    assert score.reason == f"{turns[1]!r} contradicts {turns[0]!r}"


def test_context_and_tool_results_ground_a_response():
    response = "Parcel X9 is in Graz."
    case = Case.of("Where is it?", context="Parcel X9 was seen in Graz.")
    assert passed(Hallucination(), case, response)
    turn = Turn(response=response, tool_results=(ToolResult(result={"X9": "Parcel is in Graz"}),))
    outcome = Hallucination().score(Case(id="c"), Trace(id="t", turns=(turn,)))
    assert isinstance(outcome, Score)
    assert outcome.value == 1.0
    assert not passed(Hallucination(), case, "Parcel X9 is in Rome.")


def test_reasons_name_what_is_wrong():
    case = Case.of("When?", "It arrives on 4 May.")
    wrong = judge(Factuality(), case, "It arrives on 9 May.").reason
    assert wrong.startswith("date: expected 4 May, got 9 May; ")
    assert judge(Completeness(), case, "In May.").reason == "missing 4 May"
    assert judge(Conciseness(words=2), case, "on the 4th").reason == "3 words, allowed 2"
    assert judge(Conciseness(words=1), case, "Thursday").value == 1.0
    assert judge(Coherence(), case, "It is, if the").reason == "the text breaks off"


@pytest.mark.parametrize(("expected", "allowed"), [(2, 12), (20, 30), (21, 31), (40, 60), (41, 61)])
def test_half_as_many_words_again_are_allowed_but_at_least_ten_more(expected: int, allowed: int):
    case = Case.of("Why?", "word " * expected)
    enough = judge(Conciseness(), case, "word " * allowed)
    assert (enough.value, enough.reason) == (1.0, "")
    longer = judge(Conciseness(), case, "word " * (allowed + 1))
    assert longer.value == allowed / (allowed + 1)
    assert longer.reason == f"{allowed + 1} words, allowed {allowed}"


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("We ship on Monday. We ship on Monday.", 0.5, "repeated sentences"),
        ("We ship on Monday. ... We ship on Monday.", 0.5, "repeated sentences"),
        ("The the cat sat.", 0.5, "repeated words"),
        ("The the cat.", 1.0, ""),
        ("We can go and we can go and we can go.", 1 - 4 / 11, "repeated words"),
        ("We can go and we can go.", 1.0, ""),
        ("They said you can go, you can run, and you can swim.", 1.0, ""),
        ("We know about it. Tell us about it.", 1.0, ""),
        ("We know where they are. Tell us who you are.", 1.0, ""),
        ("Please send the. He waits for a.", 0.5, "unfinished sentences"),
        ("Please send the. He waits.", 1.0, ""),
        ("Parcel depot the Graz Monday driver van", 0.5, "the words form no sentence"),
        ("Parcel depot\nGraz Monday\ndriver van", 1.0, ""),
        ("the parcel is at the depot", 0.5, "the words form no sentence"),
        ("The parcel is at the depot", 1.0, ""),
        (
            "PayPal is available. PayPal is available. PayPal is not available.",
            2 / 3 * 0.5,
            "repeated sentences; the text contradicts itself",
        ),
        (" ", 0.0, "the response is empty"),
        ("!!!", 0.0, "the response has no words"),
    ],
)
def test_each_fault_of_form_has_its_factor(text: str, value: float, reason: str):
    score = judge(Coherence(), Case(id="c"), text)
    assert (score.value, score.reason) == (pytest.approx(value), reason)


def test_three_function_words_of_twenty_are_enough():
    nouns = "van key box door lamp desk chair shelf cable printer paper pen cup mug plate fork"
    few = judge(Coherence(), Case(id="c"), f"The and of {nouns} spoon bowl")
    assert (few.value, few.reason) == (0.5, "the words form no sentence")
    assert judge(Coherence(), Case(id="c"), f"The and of {nouns} spoon").value == 1.0


@pytest.mark.parametrize(
    ("expected", "response", "reason"),
    [
        ("Yes.", "No.", "expected yes, got no"),
        ("No.", "Yes.", "expected no, got yes"),
        ("The capital is Paris.", "The capital is London.", "name: expected Paris, got London"),
        ("Take 3 or 4.", "Take 5 or 6.", "number: expected 3, 4, got 5, 6"),
        ("It costs 5 euros, on 4 May.", "It costs 6 euros, on 9 May.", "number: expected"),
    ],
)
def test_contradictions_name_both_sides(expected: str, response: str, reason: str):
    score = judge(Factuality(), Case.of("Tell me.", expected), response)
    assert score.reason.startswith(reason)


def test_code_of_the_question_must_not_change():
    case = Case.of("Where is order B14?", "Order B14 is in Graz.")
    assert (
        "code: expected B14, got B15" in judge(Factuality(), case, "Order B15 is in Graz.").reason
    )
    assert passed(Factuality(), case, "It is in Graz.")


def test_name_in_place_of_a_code_is_a_contradiction():
    case = Case.of("Who checks it?", "It is checked by B14 today.")
    reason = judge(Factuality(), case, "It is checked by Maria today.").reason
    assert reason.startswith("name: expected B14, got Maria; ")


def test_missing_facts_are_listed():
    case = Case.of("When?", "It arrives in Graz on 4 May.")
    assert judge(Completeness(), case, "It arrives.").reason == "missing 4 May, Graz"
    assert judge(Completeness(), case, "In Graz on 4 May it arrives.").reason == ""


def test_half_of_the_facts_are_enough():
    case = Case.of("What?", "museum tickets")
    assert judge(Factuality(), case, "a museum").reason == ""
    assert judge(Factuality(), case, "a museum").value == 1.0


def test_contradictions_of_all_responses_are_listed():
    turns = [f"The shop opens at {hour} on Sunday." for hour in (9, 11, 10)]
    assert judge(Consistency(), Case(id="c"), *turns).reason == (
        f"{turns[1]!r} contradicts {turns[0]!r}; {turns[2]!r} contradicts {turns[0]!r}"
    )


def test_consistency_without_anything_to_contradict_is_unscored():
    silent = Trace(id="t", turns=(Turn(user="hi"),))
    assert Consistency().score(Case(id="c"), silent) == Unscored("no response was recorded")
    single = Trace(id="t", turns=(Turn(response="It opens at 9."),))
    assert Consistency().score(Case(id="c"), single) == Unscored(
        reason="a single sentence without context has nothing to contradict", not_applicable=True
    )


def test_relevance_is_the_share_of_the_topic_up_to_two_fifths():
    case = Case.of("museum tickets opening prices parking", id="c")
    enough = judge(Relevance(), case, "The museum has tickets.")
    assert (enough.value, enough.reason) == (1.0, "")
    little = judge(Relevance(), case, "The museum is old.")
    assert (little.value, little.reason) == (0.5, "only 20% of the topic's words occur")
    trace = Trace(id="t", turns=(Turn(response="It is."),))
    assert Relevance().score(Case(id="c"), trace) == Unscored(
        reason="neither a question nor an expected response", not_applicable=True
    )


def test_yes_without_a_question_is_compared_with_the_expected_response():
    golden = Case(id="c", turns=(Turn(response="The museum opens."),))
    score = Relevance().score(golden, Trace(id="t", turns=(Turn(response="Yes."),)))
    assert isinstance(score, Score)
    assert score.value == 0.0


@pytest.mark.parametrize("metric", [Coherence(), Relevance()], ids=lambda metric: metric.name)
def test_missing_response_is_no_fault_of_form(metric: Metric):
    opens = Turn(user="When does the museum open?", response="The museum opens on Tuesday.")
    silent = Turn(user="When does the museum open?")
    score = metric.score(Case(id="c", turns=(opens, opens)), Trace(id="t", turns=(opens, silent)))
    assert isinstance(score, Score)
    assert score.turns == (1.0, None)


def test_details_say_what_cannot_be_compared_without_packages(monkeypatch: pytest.MonkeyPatch):
    score = Score(value=0.5, details={"words": 3})
    monkeypatch.setattr(limits, "has_packages", lambda: True)
    assert limits.note_limits(score) == score
    monkeypatch.setattr(limits, "has_packages", lambda: False)
    noted = limits.note_limits(score)
    assert isinstance(noted, Score)
    assert noted.details.keys() == {"words", "not_compared"}
    assert str(noted.details["not_compared"]).endswith("install carob[facts] to compare them")


def test_responses_without_anything_to_compare_are_unscored():
    trace = Trace(id="t", turns=(Turn(response="It depends."),))
    for metric in (
        Completeness(),
        Conciseness(),
        Consistency(),
        Factuality(),
        Hallucination(),
        Relevance(),
    ):
        assert isinstance(metric.score(Case(id="c"), trace), Unscored), metric.name


def test_empty_response_is_not_coherent():
    assert judge(Coherence(), Case(id="c"), " ").value == 0.0
    assert judge(Coherence(), Case(id="c"), "!!!").value == 0.0


@pytest.mark.parametrize("metric", [Coherence(), Consistency()], ids=lambda metric: metric.name)
def test_very_long_text_is_unscored(metric: Metric):
    trace = Trace(id="t", turns=(Turn(response="One more thing. " * 20_000),))
    outcome = metric.score(Case(id="c"), trace)
    assert isinstance(outcome, Unscored)
    assert outcome.reason.startswith("too many sentences to compare: more than ")
