from __future__ import annotations

import asyncio
from typing import Annotated, Literal

import msgspec
import pytest

from carob.judges.client import retry
from carob.judges.client.budget import Budget
from carob.judges.client.cache import CachedAnswer, MemoryCache
from carob.judges.client.client import Estimator, ModelClient
from carob.judges.client.request import cache_key
from carob.judges.client.retry import RetryingCaller
from carob.judges.model import JudgeRequest, ProviderError, Token
from carob.metrics import Answer, Ledger, Question
from carob.schema import Failed, JudgeSettings, Unscored
from tests.judges.client.scripted_model import ScriptedModel, ScriptedReply, reply, texts

GOOD = '{"reason": "It answers the question.", "score": 4}'


class Grade(msgspec.Struct, frozen=True):
    reason: str
    score: Annotated[int, msgspec.Meta(ge=1, le=5)]


class Verdict(msgspec.Struct, frozen=True):
    reason: str
    verdict: Literal["yes", "no"]


def question(prompt: str = "Was it right?", **more: object) -> Question[Grade]:
    return Question(instructions="Judge.", prompt=prompt, answer=Grade, **more)  # pyright: ignore[reportArgumentType] - as the test says


def client(
    model: ScriptedModel,
    *,
    cache: MemoryCache | None = None,
    budget: Budget | None = None,
    deadline: float = 5.0,
    concurrency: int = 16,
) -> ModelClient:
    settings = JudgeSettings(model=model.name)
    caller = RetryingCaller(model, budget or Budget(), concurrency=concurrency, deadline=deadline)
    return ModelClient(caller, settings, cache or MemoryCache())


def ask(
    model: ScriptedModel, *questions: Question[Grade], ledger: Ledger | None = None, **more: object
) -> list[Answer[Grade] | Unscored | Failed]:
    async def ask_all() -> list[Answer[Grade] | Unscored | Failed]:
        judge = client(model, **more)  # pyright: ignore[reportArgumentType] - as the test says
        book = ledger or Ledger()
        return await asyncio.gather(*(judge.ask(each, book) for each in questions or [question()]))

    return asyncio.run(ask_all())


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without long delays."""
    monkeypatch.setattr(retry, "_FIRST_DELAY", 0.001)


def test_answer_is_returned_and_its_cost_is_recorded():
    ledger = Ledger()
    assert ask(ScriptedModel.with_replies(GOOD), ledger=ledger) == [
        Answer(value=Grade(reason="It answers the question.", score=4))
    ]
    (entry,) = ledger.entries
    assert (entry.answered, entry.cached, entry.calls) == (True, False, 1)
    assert (entry.input_tokens, entry.output_tokens, entry.cost) == (100, 10, 0.0)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("I would give it a 4.", "it contains no JSON object"),
        ('{"reason": "Good.", "score": 9}', "Expected `int` <= 5 - at `$.score`"),
        ('{"reason": "Good.", "score": "4"}', "Expected `int`, got `str` - at `$.score`"),
        ('{"score": 4}', "missing required field `reason`"),
        ('{"reason": "Good.", "score": 4, "bonus": 1}', "unknown field 'bonus'"),
        ('{"reason": "Good.", "score": 4} {"score": 5}', "more than one JSON object"),
        ('{"reason": "Good.", "score": 4, "score": 5}', "duplicate field"),
    ],
)
def test_invalid_reply_is_sent_back_with_the_error(bad: str, message: str):
    model, ledger = ScriptedModel.with_replies(bad, GOOD), Ledger()
    (answer,) = ask(model, ledger=ledger)
    assert isinstance(answer, Answer)
    assert answer.value.score == 4
    first, second = texts(model.requests)
    assert second[:3] == [*first, bad]
    assert message in second[3]
    assert ledger.entries[0].calls == 2
    assert ledger.entries[0].input_tokens == 200


def test_answer_that_stays_invalid_is_a_failure_not_a_score():
    model, ledger = ScriptedModel.with_replies('{"reason": "Good.", "score": 0}'), Ledger()
    assert ask(model, ledger=ledger) == [
        Failed(
            kind="invalid_answer",
            message="Expected `int` >= 1 - at `$.score` (asked 3 times)",
        )
    ]
    assert [entry.answered for entry in ledger.entries] == [False]
    assert ledger.judge_cost("m").calls == 3


def test_truncated_reply_is_invalid_even_if_it_looks_complete():
    model = ScriptedModel.with_replies(reply(GOOD, truncated=True), GOOD)
    (answer,) = ask(model)
    assert isinstance(answer, Answer)
    assert "cut off after 1024 tokens" in texts(model.requests)[1][3]


def test_cached_answer_is_not_asked_again_and_keeps_its_cost():
    cache, model = MemoryCache(), ScriptedModel.with_replies(GOOD)
    before, after = Ledger(), Ledger()
    first = ask(model, ledger=before, cache=cache)
    second = ask(model, ledger=after, cache=cache)
    assert first == second
    assert len(model.requests) == 1
    assert before.judge_cost("m") == after.judge_cost("m")
    assert (after.judge_usage().calls, after.judge_usage().cached, after.judge_usage().cost) == (
        0,
        1,
        0.0,
    )


@pytest.mark.parametrize(
    "changed",
    [
        question("Was it wrong?"),
        question(sample=1),
        question(decides="score"),
        Question(instructions="Judge well.", prompt="Was it right?", answer=Grade),
    ],
)
def test_different_question_is_not_answered_from_the_cache(changed: Question[Grade]):
    cache, model = MemoryCache(), ScriptedModel.with_replies(GOOD)
    ask(model, question(), cache=cache)
    ask(model, changed, cache=cache)
    assert len(model.requests) == 2


def test_failures_are_not_cached():
    cache = MemoryCache()
    model = ScriptedModel.with_replies("no", "no", "no", GOOD)
    assert isinstance(ask(model, cache=cache)[0], Failed)
    assert isinstance(ask(model, cache=cache)[0], Answer)


def test_identical_concurrent_questions_are_asked_once():
    model, ledger = ScriptedModel.with_replies(GOOD), Ledger()
    model.seconds = 0.01
    answers = ask(model, *[question()] * 5, ledger=ledger)
    assert len(model.requests) == 1
    assert len({id(answer) for answer in answers}) == 5
    assert [entry.cached for entry in ledger.entries].count(False) == 1


@pytest.mark.parametrize(
    "trouble", ["rate_limit", "overloaded", "timeout", "disconnected", "malformed"]
)
@pytest.mark.usefixtures("fast")
def test_transient_errors_are_retried(trouble: str):
    model = ScriptedModel.with_replies(ProviderError(trouble, "not now"), GOOD)  # pyright: ignore[reportArgumentType] - one of the troubles
    ledger = Ledger()
    (answer,) = ask(model, ledger=ledger)
    assert isinstance(answer, Answer)
    assert ledger.entries[0].calls == 2


@pytest.mark.usefixtures("fast")
def test_retries_end_after_five_attempts():
    model = ScriptedModel.with_replies(ProviderError("overloaded", "busy"))
    assert ask(model) == [Failed(kind="overloaded", message="busy (tried 5 times)")]
    assert len(model.requests) == 5


def test_permanent_errors_are_not_retried():
    model = ScriptedModel.with_replies(ProviderError("rejected", "the prompt is too long"))
    assert ask(model) == [Failed(kind="rejected", message="the prompt is too long")]
    assert len(model.requests) == 1


def test_denied_key_is_not_sent_again():
    model = ScriptedModel.with_replies(ProviderError("denied", "refused the key"))
    answers = ask(model, *[question(f"{number}") for number in range(50)], concurrency=1)
    assert {type(answer) for answer in answers} == {Failed}
    assert len(model.requests) == 1


def test_rate_limit_with_a_long_wait_fails_at_once():
    model = ScriptedModel.with_replies(ProviderError("rate_limit", "later", retry_after=3600))
    (answer,) = ask(model)
    assert isinstance(answer, Failed)
    assert answer.message.startswith("later (would have to wait 3600")


@pytest.mark.usefixtures("fast")
def test_retry_after_is_respected():
    model = ScriptedModel.with_replies(ProviderError("rate_limit", "later", retry_after=0.2), GOOD)
    loop = asyncio.new_event_loop()
    start = loop.time()
    ask(model)
    assert loop.time() - start >= 0.2
    loop.close()


@pytest.mark.usefixtures("fast")
def test_model_that_hangs_times_out():
    model = ScriptedModel.with_replies(GOOD)
    model.seconds = 30.0
    (answer,) = ask(model, deadline=0.02)
    assert answer == Failed(
        kind="timeout",
        message="local:scripted did not answer within 0.02 s (tried 5 times)",
    )
    assert model.running == 0


def test_concurrency_is_limited():
    model = ScriptedModel.with_replies(GOOD)
    model.seconds = 0.002
    ask(model, *[question(f"{number}") for number in range(40)], concurrency=7)
    assert model.most_running == 7


def test_model_with_max_concurrency_of_one_gets_one_question_at_a_time():
    model = ScriptedModel.with_replies(GOOD)
    model.seconds, model.max_concurrency = 0.1, 1
    answers = ask(model, *[question(f"{number}") for number in range(6)], deadline=0.5)
    assert model.most_running == 1
    assert all(
        isinstance(answer, Answer) for answer in answers
    )  # waiting for a slot does not count as a timeout


def test_questions_beyond_the_call_limit_are_unscored():
    model, budget = ScriptedModel.with_replies(GOOD), Budget(max_calls=3)
    answers = ask(model, *[question(f"{number}") for number in range(10)], budget=budget)
    assert sum(isinstance(answer, Answer) for answer in answers) == 3
    assert answers.count(Unscored(reason="the limit of 3 calls was reached")) == 7
    assert budget.stopped == "the limit of 3 calls was reached"
    assert len(model.requests) == 3


def test_model_that_prefers_words_is_asked_for_one_word():
    model = ScriptedModel.with_replies(
        reply("No", tokens=(Token(text="No", alternatives={"No": 0.6, " yes": 0.2, "Maybe": 0.2}),))
    )
    model.prefers_words = True
    verdict_question = Question(
        instructions="Judge.", prompt="Is it?", answer=Verdict, decides="verdict"
    )

    async def ask_model() -> Answer[Verdict] | Unscored | Failed:
        return await client(model).ask(verdict_question, Ledger())

    answer = asyncio.run(ask_model())
    assert isinstance(answer, Answer)
    assert answer.value == Verdict(reason="", verdict="no")
    assert answer.probabilities == pytest.approx({"yes": 0.25, "no": 0.75})
    assert texts(model.requests)[0][1].endswith(
        "Answer with one word, no or yes, and nothing else."
    )


def test_model_that_says_neither_word_is_asked_for_json():
    def reply_to(request: JudgeRequest) -> ScriptedReply:
        if request.words:
            return reply("Hm", tokens=(Token(text="Hm", alternatives={"Hm": 0.99}),))
        return '{"reason": "It is.", "verdict": "yes"}'

    model = ScriptedModel(replies=reply_to, prefers_words=True)
    verdict_question = Question(
        instructions="Judge.", prompt="Is it?", answer=Verdict, decides="verdict"
    )

    async def ask_model() -> Answer[Verdict] | Unscored | Failed:
        return await client(model).ask(verdict_question, Ledger())

    assert asyncio.run(ask_model()) == Answer(value=Verdict(reason="It is.", verdict="yes"))
    assert len(model.requests) == 2


def test_probabilities_of_the_deciding_field_are_returned():
    tokens = [
        Token(text='{"reason":"","score":', alternatives={'{"reason":"","score":': 1.0}),
        Token(text="4", alternatives={"4": 0.7, "5": 0.3}),
        Token(text="}", alternatives={"}": 1.0}),
    ]
    model = ScriptedModel.with_replies(reply('{"reason":"","score":4}', tokens=tuple(tokens)))
    (answer,) = ask(model, question(decides="score"))
    assert isinstance(answer, Answer)
    assert {key: share for key, share in answer.probabilities.items() if share} == pytest.approx(
        {"4": 0.7, "5": 0.3}
    )


SETTINGS = JudgeSettings(model="openai:gpt-5-mini", max_tokens=500)


class ShortVerdict(msgspec.Struct, frozen=True):
    verdict: Literal["yes", "no"]


def short_question(prompt: str = "Is it?") -> Question[ShortVerdict]:
    return Question(instructions="Judge.", prompt=prompt, answer=ShortVerdict)


def test_every_question_is_counted_without_asking():
    estimator, ledger = Estimator(SETTINGS, MemoryCache()), Ledger()
    for prompt in ("Is it?", "Was it?", "Is it?"):
        outcome = asyncio.run(estimator.ask(short_question(prompt), ledger))
        assert outcome == Unscored(reason="estimated, not asked")
    spent = ledger.judge_usage()
    assert (spent.calls, spent.cached, spent.output_tokens) == (2, 1, 1000)
    assert spent.input_tokens > 60
    # 250 and 2000 thousandths of a cent for a thousand tokens
    assert spent.cost is not None
    assert abs(spent.cost - (0.25e-6 * spent.input_tokens + 2e-6 * 1000)) < 1e-9


def test_cached_answers_cost_nothing():
    cache = MemoryCache()
    cache.put(cache_key(short_question(), SETTINGS), CachedAnswer(text='{"verdict":"yes"}'))
    ledger = Ledger()
    outcome = asyncio.run(Estimator(SETTINGS, cache).ask(short_question(), ledger))
    assert outcome == Answer(value=ShortVerdict(verdict="yes"))
    assert (ledger.judge_usage().calls, ledger.judge_usage().cost) == (0, 0.0)
