"""Conversation scenarios, with a user whom a scripted model plays behind the chat API."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

import carob
from carob.api.compare import compare
from carob.schema import Case, Dataset, Run, Scenario
from carob.targets.simulator_prompt import describe_persona
from tests.judges.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerResponse,
    json_response,
)

PLAN = "Ask for the price of the hose. Then ask for the price of the rake."


def scenario(persona: Any = None) -> Dataset:
    case = Case(id="prices", scenario=Scenario("Hi, prices please", PLAN, persona))
    return Dataset(name="garden", cases=[case])


def say(text: str) -> ServerResponse:
    message = {"role": "assistant", "content": json.dumps({"message": text})}
    usage = {"prompt_tokens": 50, "completion_tokens": 5}
    return json_response(
        {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    )


Ask = Callable[..., Run]


def run(
    monkeypatch: pytest.MonkeyPatch, server: ScriptedServer, heard: list[str], **options: Any
) -> Run:
    """Run a scenario with an agent that remembers what it heard."""
    monkeypatch.setenv("VLLM_BASE_URL", server.url)

    def agent(message: str) -> str:
        heard.append(message)
        return f"You said: {message}"

    options = {"golden": scenario(), "simulator": "vllm:user", **options}
    return carob.run(target=agent, metrics="latency", **options)


def prompt_of(request: ReceivedRequest) -> str:
    return request.json["messages"][-1]["content"]


def test_starting_prompt_is_said_verbatim_and_the_stop_signal_is_not_sent(
    monkeypatch: pytest.MonkeyPatch,
):
    heard: list[str] = []
    with ScriptedServer([say("And the rake?"), say("thanks </FINISHED> bye")]) as server:
        run(monkeypatch, server, heard)
        assert heard == ["Hi, prices please", "And the rake?"]
        first, second = map(prompt_of, server.requests)
    assert PLAN in first
    assert "user: Hi, prices please\n\nagent: You said: Hi, prices please" in first
    assert "agent: You said: And the rake?" in second


def test_limit_is_checked_before_the_model_is_asked(monkeypatch: pytest.MonkeyPatch):
    heard: list[str] = []
    with ScriptedServer(say("More?")) as server:
        run(monkeypatch, server, heard, max_turns=1)
        assert server.requests == []
        assert heard == ["Hi, prices please"]
        run(monkeypatch, server, heard, max_turns=3)
    assert heard[1:] == ["Hi, prices please", "More?", "More?"]


def test_conversation_without_turns_is_not_scored(monkeypatch: pytest.MonkeyPatch):
    heard: list[str] = []
    with ScriptedServer(say("x")) as server:
        scored = run(monkeypatch, server, heard, max_turns=0)
    assert heard == []
    assert scored.cases[0].scores[0].value is None


def test_empty_message_is_an_error_of_the_user(monkeypatch: pytest.MonkeyPatch):
    with ScriptedServer(say("")) as server:
        (result,) = run(monkeypatch, server, []).cases
    assert result.status == "error"
    assert result.scores[0].reason == "user: the simulated user said nothing"


def test_scenario_without_a_model_says_how_to_name_one():
    (result,) = carob.run(golden=scenario(), target=str.upper, metrics="latency").cases
    assert result.status == "error"
    assert "--simulator PROVIDER:MODEL" in result.scores[0].reason


def test_messages_are_cached_and_attempts_get_their_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    answers = str(tmp_path / "answers.db")
    with ScriptedServer([say("And the rake?"), say("</finished>")]) as server:
        first = run(monkeypatch, server, [], answers=answers, repeat=2, concurrency=1)
        asked = len(server.requests)
        second = run(monkeypatch, server, [], answers=answers, repeat=2, concurrency=1)
        assert len(server.requests) == asked
    assert first.target == second.target
    assert asked == 3  # the second attempt is stopped at once, and has not the first one's message


def test_run_records_the_simulator_and_comparisons_name_another_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    paths: list[Path] = []
    with ScriptedServer(say("</finished>")) as server:
        for model in ("vllm:user", "vllm:other"):
            scored = run(monkeypatch, server, [], simulator=model)
            assert scored.target
            assert scored.target.simulator
            assert scored.target.simulator.model == model
            assert scored.target.simulator.prompt.startswith("sha256:")
            path = tmp_path / f"{model[5:]}.json"
            path.write_bytes(msgspec.json.encode(scored))
            paths.append(path)
    changes = compare(*map(str, paths)).changed_inputs
    assert ("target", "simulator") in {(change.what, change.field) for change in changes}


def test_persona_is_described_to_the_model(monkeypatch: pytest.MonkeyPatch):
    persona = {
        "id": "hurried",
        "description": "Is in a hurry.",
        "behaviors": [
            {
                "name": "Short",
                "description": "Writes little.",
                "behavior_instructions": ["Use at most five words."],
                "violation_rubrics": ["The message has more than five words."],
            }
        ],
    }
    with ScriptedServer(say("</finished>")) as server:
        run(monkeypatch, server, [], golden=scenario(persona))
        prompt = prompt_of(server.requests[0])
    assert "Is in a hurry." in prompt
    assert "- Use at most five words." in prompt
    assert "everyday words" in describe_persona("NOVICE")
    assert describe_persona(None) == ""
