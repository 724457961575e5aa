from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
import pytest

from carob.judges import Budget, Caller, LiveAsker, Memory
from carob.judges.client import caller
from carob.judges.model import RefusedError, Request, Token
from carob.metrics import Answer, Ledger, Question
from carob.schema import Failed, JudgeChoice, Unscored
from tests.judges.client.scripted import Line, Scripted, reply, texts

GOOD = '{"reason": "It answers the question.", "score": 4}'


class Grade(msgspec.Struct, frozen=True):
    reason: str
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]


class Verdict(msgspec.Struct, frozen=True):
    reason: str
    verdict: Literal["yes", "no"]


def question(prompt: str = "Was it right?", **more: object) -> Question[Grade]:
    return Question(instructions="Judge.", prompt=prompt, answer=Grade, **more)  # pyright: ignore[reportArgumentType] - as the test says


def asker(
    model: Scripted,
    *,
    cache: Memory | None = None,
    budget: Budget | None = None,
    deadline: float = 5.0,
    concurrency: int = 16,
) -> LiveAsker:
    choice = JudgeChoice(model=model.name)
    made = Caller(model, budget or Budget(), concurrency=concurrency, deadline=deadline)
    return LiveAsker(made, choice, cache or Memory())


def ask(
    model: Scripted, *questions: Question[Grade], ledger: Ledger | None = None, **more: object
) -> list[Answer[Grade] | Unscored | Failed]:
    async def all_of_them() -> list[Answer[Grade] | Unscored | Failed]:
        one = asker(model, **more)  # pyright: ignore[reportArgumentType] - as the test says
        book = ledger or Ledger()
        return await asyncio.gather(*(one.ask(each, book) for each in questions or [question()]))

    return asyncio.run(all_of_them())


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits long between two tries."""
    monkeypatch.setattr(caller, "_FIRST", 0.001)


def test_an_answer_is_read_and_its_price_is_in_the_ledger():
    ledger = Ledger()
    assert ask(Scripted.saying(GOOD), ledger=ledger) == [
        Answer(value=Grade(reason="It answers the question.", score=4))
    ]
    (entry,) = ledger.entries
    assert (entry.answered, entry.cached, entry.calls) == (True, False, 1)
    assert (entry.input_tokens, entry.output_tokens, entry.cost) == (100, 10, 0.0)


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("I would give it a 4.", "there is no JSON object in it"),
        ('{"reason": "Good.", "score": 9}', "Expected `int` <= 5 - at `$.score`"),
        ('{"reason": "Good.", "score": "4"}', "Expected `int`, got `str` - at `$.score`"),
        ('{"score": 4}', "missing required field `reason`"),
        ('{"reason": "Good.", "score": 4, "bonus": 1}', "there is no field 'bonus'"),
        ('{"reason": "Good.", "score": 4} {"score": 5}', "more than one JSON object"),
        ('{"reason": "Good.", "score": 4, "score": 5}', "a field is there twice"),
    ],
)
def test_a_reply_that_is_no_answer_is_sent_back_with_what_is_wrong(bad: str, told: str):
    model, ledger = Scripted.saying(bad, GOOD), Ledger()
    (answer,) = ask(model, ledger=ledger)
    assert isinstance(answer, Answer)
    assert answer.value.score == 4
    first, second = texts(model.asked)
    assert second[:3] == [*first, bad]
    assert told in second[3]
    assert ledger.entries[0].calls == 2
    assert ledger.entries[0].input_tokens == 200


def test_an_answer_that_never_gets_valid_is_a_failure_and_not_a_score():
    model, ledger = Scripted.saying('{"reason": "Good.", "score": 0}'), Ledger()
    assert ask(model, ledger=ledger) == [
        Failed(
            kind="invalid_answer",
            message="Expected `int` >= 1 - at `$.score` (3 times asked)",
        )
    ]
    assert [one.answered for one in ledger.entries] == [False]
    assert ledger.asked("m").calls == 3


def test_a_reply_that_was_cut_off_is_no_answer_even_if_it_looks_like_one():
    model = Scripted.saying(reply(GOOD, cut=True), GOOD)
    (answer,) = ask(model)
    assert isinstance(answer, Answer)
    assert "cut off after 1024 tokens" in texts(model.asked)[1][3]


def test_a_kept_answer_is_not_asked_for_again_and_says_what_it_took():
    cache, model = Memory(), Scripted.saying(GOOD)
    before, after = Ledger(), Ledger()
    first = ask(model, ledger=before, cache=cache)
    second = ask(model, ledger=after, cache=cache)
    assert first == second
    assert len(model.asked) == 1
    assert before.asked("m") == after.asked("m")
    assert (after.spending().calls, after.spending().cached, after.spending().cost) == (0, 1, 0.0)


@pytest.mark.parametrize(
    "other",
    [
        question("Was it wrong?"),
        question(sample=1),
        question(decides="score"),
        Question(instructions="Judge well.", prompt="Was it right?", answer=Grade),
    ],
)
def test_another_question_is_asked(other: Question[Grade]):
    cache, model = Memory(), Scripted.saying(GOOD)
    ask(model, question(), cache=cache)
    ask(model, other, cache=cache)
    assert len(model.asked) == 2


def test_failures_are_not_kept():
    cache = Memory()
    model = Scripted.saying("no", "no", "no", GOOD)
    assert isinstance(ask(model, cache=cache)[0], Failed)
    assert isinstance(ask(model, cache=cache)[0], Answer)


def test_the_same_question_at_the_same_time_is_asked_once():
    model, ledger = Scripted.saying(GOOD), Ledger()
    model.seconds = 0.01
    answers = ask(model, *[question()] * 5, ledger=ledger)
    assert len(model.asked) == 1
    assert len({id(one) for one in answers}) == 5
    assert [one.cached for one in ledger.entries].count(False) == 1


@pytest.mark.parametrize(
    "trouble", ["rate_limit", "overloaded", "timeout", "disconnected", "malformed"]
)
@pytest.mark.usefixtures("fast")
def test_what_may_pass_is_tried_again(trouble: str):
    model = Scripted.saying(RefusedError(trouble, "not now"), GOOD)  # pyright: ignore[reportArgumentType] - one of the troubles
    ledger = Ledger()
    (answer,) = ask(model, ledger=ledger)
    assert isinstance(answer, Answer)
    assert ledger.entries[0].calls == 2


@pytest.mark.usefixtures("fast")
def test_what_does_not_pass_is_given_up_in_the_end():
    model = Scripted.saying(RefusedError("overloaded", "busy"))
    assert ask(model) == [Failed(kind="overloaded", message="busy (5 times tried)")]
    assert len(model.asked) == 5


def test_what_will_not_pass_is_not_tried_again():
    model = Scripted.saying(RefusedError("rejected", "the prompt is too long"))
    assert ask(model) == [Failed(kind="rejected", message="the prompt is too long")]
    assert len(model.asked) == 1


def test_a_key_that_was_refused_is_not_shown_again():
    model = Scripted.saying(RefusedError("denied", "refused the key"))
    answers = ask(model, *[question(f"{number}") for number in range(50)], concurrency=1)
    assert {type(one) for one in answers} == {Failed}
    assert len(model.asked) == 1


def test_a_provider_that_wants_too_long_a_wait_is_not_waited_for():
    model = Scripted.saying(RefusedError("rate_limit", "later", retry_after=3600))
    (answer,) = ask(model)
    assert isinstance(answer, Failed)
    assert answer.message.startswith("later (would have to wait 3600")


@pytest.mark.usefixtures("fast")
def test_retry_after_is_heeded():
    model = Scripted.saying(RefusedError("rate_limit", "later", retry_after=0.2), GOOD)
    loop = asyncio.new_event_loop()
    start = loop.time()
    ask(model)
    assert loop.time() - start >= 0.2
    loop.close()


@pytest.mark.usefixtures("fast")
def test_a_model_that_hangs_is_left_after_the_deadline():
    model = Scripted.saying(GOOD)
    model.seconds = 30.0
    (answer,) = ask(model, deadline=0.02)
    assert answer == Failed(
        kind="timeout",
        message="local:scripted did not answer within 0.02 s (5 times tried)",
    )
    assert model.running == 0


def test_no_more_are_asked_at_the_same_time_than_allowed():
    model = Scripted.saying(GOOD)
    model.seconds = 0.002
    ask(model, *[question(f"{number}") for number in range(40)], concurrency=7)
    assert model.most == 7


def test_a_model_that_takes_one_question_at_a_time_gets_no_more():
    model = Scripted.saying(GOOD)
    model.seconds, model.at_once = 0.01, 1
    answers = ask(model, *[question(f"{number}") for number in range(5)], deadline=0.04)
    assert model.most == 1
    assert all(isinstance(one, Answer) for one in answers)  # waiting for a turn is not being late


def test_beyond_the_limit_of_calls_questions_are_unscored_and_the_run_is_stopped():
    model, budget = Scripted.saying(GOOD), Budget(max_calls=3)
    answers = ask(model, *[question(f"{number}") for number in range(10)], budget=budget)
    assert sum(isinstance(one, Answer) for one in answers) == 3
    assert answers.count(Unscored(reason="the limit of 3 calls was reached")) == 7
    assert budget.stopped == "the limit of 3 calls was reached"
    assert len(model.asked) == 3


def test_yes_or_no_is_decided_by_the_first_token_where_a_model_does_that_better():
    model = Scripted.saying(
        reply("No", tokens=(Token(text="No", alternatives={"No": 0.6, " yes": 0.2, "Maybe": 0.2}),))
    )
    model.words = True
    asked = Question(instructions="Judge.", prompt="Is it?", answer=Verdict, decides="verdict")

    async def answered() -> Answer[Verdict] | Unscored | Failed:
        return await asker(model).ask(asked, Ledger())

    answer = asyncio.run(answered())
    assert isinstance(answer, Answer)
    assert answer.value == Verdict(reason="", verdict="no")
    assert answer.probabilities == pytest.approx({"yes": 0.25, "no": 0.75})
    assert texts(model.asked)[0][1].endswith("Answer with one word, no or yes, and nothing else.")


def test_a_model_that_says_neither_word_is_asked_for_json():
    def lines(request: Request) -> Line:
        if request.words:
            return reply("Hm", tokens=(Token(text="Hm", alternatives={"Hm": 0.99}),))
        return '{"reason": "It is.", "verdict": "yes"}'

    model = Scripted(lines=lines, words=True)
    asked = Question(instructions="Judge.", prompt="Is it?", answer=Verdict, decides="verdict")

    async def answered() -> Answer[Verdict] | Unscored | Failed:
        return await asker(model).ask(asked, Ledger())

    assert asyncio.run(answered()) == Answer(value=Verdict(reason="It is.", verdict="yes"))
    assert len(model.asked) == 2


def test_probabilities_of_the_deciding_field_are_told():
    tokens = [
        Token(text='{"reason":"","score":', alternatives={'{"reason":"","score":': 1.0}),
        Token(text="4", alternatives={"4": 0.7, "5": 0.3}),
        Token(text="}", alternatives={"}": 1.0}),
    ]
    model = Scripted.saying(reply('{"reason":"","score":4}', tokens=tuple(tokens)))
    (answer,) = ask(model, question(decides="score"))
    assert isinstance(answer, Answer)
    assert {key: share for key, share in answer.probabilities.items() if share} == pytest.approx(
        {"4": 0.7, "5": 0.3}
    )
