"""The same numbers as google-adk, asked of google-adk itself: in `.peers`, by one process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from carob.metrics import Metric
from carob.metrics.text.response_match import ResponseMatch
from carob.metrics.tools.trajectory import ToolTrajectory
from carob.metrics.usage.efficiency import (
    InferenceCallCount,
    ToolCallCount,
    TurnDuration,
    TurnTokens,
)
from carob.schema import (
    Case,
    Json,
    ModelCall,
    Score,
    SourceDocument,
    ToolCall,
    Trace,
    Turn,
    Usage,
)

ROOT = Path(__file__).parents[2]
Turns = tuple[Turn, ...]
Ask = Callable[[str, Turns, Turns, dict[str, Json]], dict[str, Any]]
MatchType = Literal["EXACT", "IN_ORDER", "ANY_ORDER"]

LISTED = (
    "the dogs were running quickly generalizations happily flying skies news proceed Straße café "
    "İstanbul 你好 世界 こんにちは 한국어 สวัสดี ครับ ຂໍ້ ភាសា မြန်မာ हिन्दी مرحبا ΣΊΣΥΦΟΣ ﷺ ǅ "
    "ﬁne ½ Ⅷ e\u0301 $29.99 it's a1 x\u200dy 👩\u200d🚀 don’t naïve connections 1,000 agreed feed"
)
WORDS = LISTED.split()
ARGS: tuple[Json, ...] = (
    None,
    {},
    {"x": 0},
    {"x": 1},
    {"x": 1.0},
    {"x": True},
    {"x": False},
    {"x": "1"},
    {"x": None},
    {"x": 2**63},
    {"x": [1, {"y": None}]},
    {"x": [{"y": None}, 1]},
    {"x": 1, "y": 2},
    {"y": 2, "x": 1},
    {"x": {"a": {}, "b": []}},
)


@pytest.fixture(scope="module")
def ask() -> Iterator[Ask]:
    python = Path(os.environ.get("CAROB_PEERS", ROOT / ".peers/bin/python"))
    if not python.exists():
        pytest.fail(f"no {python}: `make peers` sets up google-adk, which these tests ask")
    command = [str(python), str(ROOT / "tests/oracle/adk_metrics.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        stdin, stdout = process.stdin, process.stdout

        def score(
            metric: str, expected: Turns, actual: Turns, criterion: dict[str, Json]
        ) -> dict[str, Any]:
            sides = {"expected": invocations(expected), "actual": invocations(actual)}
            question = {"metric": metric, "criterion": {"threshold": 0.5, **criterion}, **sides}
            stdin.write(json.dumps(question).encode() + b"\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield score
        stdin.close()


def invocations(turns: Turns) -> list[dict[str, Any]]:
    """Turns in the words of google-adk."""
    return [
        {
            "user_content": {"parts": [{"text": "hi"}]},
            "final_response": None
            if turn.response is None
            else {"parts": [{"text": turn.response}]},
            "intermediate_data": intermediate_data(turn),
            "duration": None if turn.end is None else turn.end / 1e9,
        }
        for turn in turns
    ]


def intermediate_data(turn: Turn) -> dict[str, Any] | None:
    if turn.model_calls:
        return {"invocation_events": [*map(event, turn.model_calls)]}
    if turn.tool_calls is None:
        return None
    return {"tool_uses": [{"name": call.name, "args": call.args} for call in turn.tool_calls]}


def event(call: ModelCall) -> dict[str, Any]:
    usage = call.usage
    return {
        "author": "agent",
        "model_version": call.model,
        "usage_metadata": {
            "prompt_token_count": usage.input_tokens,
            "candidates_token_count": usage.output_tokens,
            "tool_use_prompt_token_count": usage.tool_tokens,
            "cached_content_token_count": usage.cached_tokens,
        },
    }


def agree(ask: Ask, metric: Metric, expected: Turns, actual: Turns, **criterion: Json) -> None:
    """Score both ways, and hold every number to the last bit."""
    expected_score = ask(metric.name, expected, actual, criterion)
    case = Case(id="c", turns=expected, origin=SourceDocument(format="adk", doc={}))
    outcome = metric.score(case, Trace(id="t", turns=actual))
    if expected_score["score"] is None:
        assert not isinstance(outcome, Score)
        return
    assert isinstance(outcome, Score)
    assert (outcome.value, list(outcome.turns)) == (
        expected_score["score"],
        expected_score["turns"],
    )


def text(chance: random.Random, most: int = 20) -> str:
    words = chance.choices(WORDS, k=chance.randint(0, most))
    strange = "".join(strange_letter(chance) for _ in range(chance.randint(0, 4)))
    return chance.choice([" ", "\n", ", ", ""]).join([*words, strange])


def strange_letter(chance: random.Random) -> str:
    """Any character that every Python knows: google-adk runs in another one, and what a character
    of a newer Unicode is depends on the interpreter."""
    while True:
        letter = chr(chance.choice([chance.randint(1, 0xD7FF), chance.randint(0xE000, 0x10FFFF)]))
        if unicodedata.ucd_3_2_0.category(letter) != "Cn":
            return letter


def calls(chance: random.Random, kinds: Sequence[Json] = ARGS) -> tuple[ToolCall, ...]:
    made = range(chance.randint(0, 4))
    return tuple(ToolCall(name=chance.choice("aAb"), args=chance.choice(kinds)) for _ in made)


def dice(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - made-up data, no secrets


@pytest.mark.parametrize("seed", range(10))
def test_rouge_equals_adks_bit_for_bit(ask: Ask, seed: int):
    chance = dice(seed)
    for _ in range(20):
        golden = [text(chance) for _ in range(chance.randint(1, 4))]
        said = [one[: len(one) // 2] + text(chance) for one in golden]
        expected = tuple(Turn(response=one) for one in golden)
        agree(ask, ResponseMatch(), expected, tuple(Turn(response=one) for one in said))


@pytest.mark.parametrize(
    ("golden", "said"),
    [
        ("", ""),
        ("", "words"),
        ("words", ""),
        (" \n", "…"),
        ("!?", "!?"),
        ("a", "A"),
        ("ＡＢＣ", "abc"),
    ],
)
def test_rouge_of_short_texts_equals_adks(ask: Ask, golden: str, said: str):
    agree(ask, ResponseMatch(), (Turn(response=golden),), (Turn(response=said),))


def test_rouge_of_long_texts_equals_adks(ask: Ask):
    chance = dice(5)
    golden, said = text(chance, most=3000), text(chance, most=3000)
    agree(ask, ResponseMatch(), (Turn(response=golden * 5),), (Turn(response=said * 5),))


@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
@pytest.mark.parametrize("ignore_args", [False, True])
def test_trajectory_equals_adks_bit_for_bit(ask: Ask, match_type: MatchType, ignore_args: bool):
    chance = dice(1)
    metric = ToolTrajectory(match_type=match_type, ignore_args=ignore_args)
    for _ in range(300):
        expected = [calls(chance) for _ in range(chance.randint(1, 7))]
        actual = [recorded(disturbed(chance, made)) for made in expected]
        golden = tuple(silent(chance, turn) for turn in turns(expected))
        agree(ask, metric, golden, turns(actual), **criterion(metric))


def silent(chance: random.Random, turn: Turn) -> Turn:
    """Some turns without `intermediate_data`."""
    return Turn() if chance.random() < 0.2 else turn


def recorded(made: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The calls as ADK records them: with arguments, though these may be empty."""
    return tuple(call if call.args is not None else ToolCall(call.name, {}) for call in made)


@pytest.mark.parametrize("made", [(), (ToolCall(name="a", args={"x": 1}),)])
@pytest.mark.parametrize("match_type", ["EXACT", "IN_ORDER", "ANY_ORDER"])
def test_calls_of_a_golden_without_intermediate_data_score_as_in_adk(
    ask: Ask, made: tuple[ToolCall, ...], match_type: MatchType
):
    metric = ToolTrajectory(match_type=match_type)
    agree(ask, metric, (Turn(),), turns([made]), **criterion(metric))


def test_turn_without_a_response_scores_as_in_adk(ask: Ask):
    golden = (Turn(response="one two"), Turn(response="three"))
    agree(ask, ResponseMatch(), golden, (Turn(response="one two"), Turn(user="hi")))
    agree(ask, ResponseMatch(), golden[:1], (Turn(user="hi"),))


def disturbed(chance: random.Random, made: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    """The same calls, mostly: some in another order, some with others between them."""
    if chance.random() < 0.4:
        return made
    mixed = [*made, *calls(chance)]
    if chance.random() < 0.5:
        chance.shuffle(mixed)
    return tuple(mixed[: chance.randint(0, len(mixed))])


def turns(made: Sequence[tuple[ToolCall, ...]]) -> Turns:
    return tuple(Turn(tool_calls=one) for one in made)


def criterion(metric: ToolTrajectory) -> dict[str, Json]:
    return {"match_type": metric.match_type, "ignore_args": metric.ignore_args}


@pytest.mark.parametrize("ignore_args", [False, True])
def test_argument_equality_is_that_of_adk(ask: Ask, ignore_args: bool):
    metric = ToolTrajectory(ignore_args=ignore_args)
    args = [made for made in ARGS if made is not None]
    for golden in ARGS:
        expected = turns([(ToolCall(name="a", args=golden),)] * len(args))
        actual = turns([(ToolCall(name="a", args=made),) for made in args])
        agree(ask, metric, expected, actual, **criterion(metric))


def test_call_recorded_without_arguments_matches_empty_ones_unlike_in_adk(ask: Ask):
    expected, actual = turns([(ToolCall("a", {}),)]), turns([(ToolCall("a"),)])
    assert ask("tool_trajectory_avg_score", expected, actual, {})["score"] == 0.0
    score = ToolTrajectory().score(Case(id="c", turns=expected), Trace(id="t", turns=actual))
    assert score == Score(value=1.0, turns=(1.0,))


def test_missing_turns_fail_where_adk_stops(ask: Ask):
    call = (ToolCall(name="a", args={}),)
    expected, actual = turns([call, call]), turns([call])
    adk_outcome = ask("tool_trajectory_avg_score", expected, actual, {})
    assert "same length" in adk_outcome["error"]
    score = ToolTrajectory().score(Case(id="c", turns=expected), Trace(id="t", turns=actual))
    assert isinstance(score, Score)
    assert score.turns == (1.0, 0.0)


def test_efficiency_metrics_equal_adks_bit_for_bit(ask: Ask):
    chance = dice(3)
    for _ in range(100):
        actual = tuple(spent(chance) for _ in range(chance.randint(1, 5)))
        for metric in (TurnTokens(), TurnDuration(), InferenceCallCount()):
            agree(ask, metric, (), actual)
        agree(ask, ToolCallCount(), (), turns([calls(chance) for _ in range(3)]))


def spent(chance: random.Random) -> Turn:
    """A turn of model calls of which some count nothing, and which may not have been timed."""
    kinds = ("input_tokens", "output_tokens", "tool_tokens", "cached_tokens")
    usages = [
        Usage(**{kind: chance.randint(0, 999) for kind in kinds if chance.random() < 0.5})
        for _ in range(chance.randint(1, 3))
    ]
    made = tuple(ModelCall(model="m", usage=usage) for usage in usages)
    timed = chance.random() < 0.8
    return Turn(
        model_calls=made,
        start=0 if timed else None,
        end=chance.randint(1, 10**11) if timed else None,
    )
