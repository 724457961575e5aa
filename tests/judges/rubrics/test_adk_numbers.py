"""Compare scores with google-adk, which runs in a process of `.peers`."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from carob import plugins
from carob.metrics import Question, build
from carob.schema import Case, Score, Trace, Turn
from tests.judges.rubrics.scripted_ask import ScriptedAsk, judge_pair, verdict, verdicts

ROOT = Path(__file__).parents[3]
Votes = list[list[list[bool]]]
"""By turn, by sample and by rubric."""
Ask = Callable[[str, Votes], dict[str, Any]]


@pytest.fixture(scope="module")
def adk() -> Iterator[Ask]:
    python = Path(os.environ.get("CAROB_PEERS", ROOT / ".peers/bin/python"))
    if not python.exists():
        pytest.fail(f"no {python}: `make peers` sets up google-adk, which these tests ask")
    command = [str(python), str(ROOT / "tests/oracle/adk_judges.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        stdin, stdout = process.stdin, process.stdout

        def ask(metric: str, votes: Votes) -> dict[str, Any]:
            stdin.write(json.dumps({"metric": metric, "votes": votes}).encode() + b"\n")
            stdin.flush()
            return json.loads(stdout.readline())

        yield ask
        stdin.close()


def random_votes(seed: int, rubrics: int) -> Votes:
    chance = random.Random(seed)  # noqa: S311 - the same votes every time
    turns, samples = chance.randint(1, 4), chance.randint(1, 6)
    return [
        [[chance.random() < 0.5 for _ in range(rubrics)] for _ in range(samples)]
        for _ in range(turns)
    ]


def carob_score(metric: str, votes: Votes, params: dict[str, Any]) -> Score:
    turns = tuple(
        Turn(user=f"user {n}", response=f"response number {n}.") for n in range(len(votes))
    )

    def say(question: Question[Any]) -> object:
        part = question.prompt.split("<<<response ", 1)[1].split("<<<end ", 1)[0]
        turn = next(n for n in range(len(votes)) if f"response number {n}." in part)
        sample = votes[turn][question.sample]
        return verdicts(*sample) if "properties" in question.prompt else verdict(yes=sample[0])

    judge = build(metric, {"samples": len(votes[0]), **params}, plugins.metrics())
    outcome = judge_pair(
        judge, Case(id="c", turns=turns), Trace(id="t", turns=turns), ScriptedAsk(say)
    )
    assert isinstance(outcome, Score)
    return outcome


@pytest.mark.parametrize("seed", range(40))
def test_final_response_match_equals_adk(adk: Ask, seed: int):
    votes = random_votes(seed, 1)
    expected = adk("final_response_match_v2", votes)
    outcome = carob_score("final_response_match_v2", votes, {})
    assert (outcome.value, [*outcome.turns]) == (expected["score"], expected["turns"])


@pytest.mark.parametrize("seed", range(40))
def test_rubric_based_quality_equals_adk(adk: Ask, seed: int):
    votes = random_votes(seed, 1 + seed % 5)
    name = "rubric_based_final_response_quality_v1"
    expected = adk(name, votes)
    rubrics = [f"property {n}" for n in range(len(votes[0][0]))]
    outcome = carob_score(name, votes, {"rubrics": rubrics})
    assert (outcome.value, [*outcome.turns]) == (expected["score"], expected["turns"])
