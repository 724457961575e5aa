"""ADK's `user_simulator_config`: users are played as google-adk's own simulator plays them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

import carob
from carob import Case, Dataset
from carob.api.live_request import LiveRequest
from carob.api.run_request import Listeners, RunRequest
from carob.api.runs import evaluate
from carob.config import load_config
from carob.errors import UsageError
from carob.schema import Problem, Run, Scenario, SimulatorSettings
from tests.judges.scripted_server import ScriptedServer, ServerResponse, json_response

ROOT = Path(__file__).parents[2]
CUSTOM = (
    "Play a user.\nPlan: {{ conversation_plan }}\nSo far:\n{{ conversation_history }}\n"
    "End with {{ stop_signal }}."
)
PERSONA = {
    "id": "hurried",
    "description": "Is in a hurry.",
    "behaviors": [
        {
            "name": "Short",
            "description": "Writes little.",
            "behavior_instructions": ["Use five words.", "Skip greetings."],
            "violation_rubrics": ["More than five words."],
        }
    ],
}
WITH_PERSONA = (
    CUSTOM + "\n{{ persona.description }}{% for b in persona.behaviors %}\n{{ b.name }}: "
    "{{ b.description }}\n{{ b.get_behavior_instructions_str() }}\n"
    "{{ b.get_violation_rubrics_str() }}{% endfor %}"
)
TEXT = [{"text": "The hose costs 19 euros."}]
CALLED = [
    {"functionCall": {"name": "find_price", "args": {"item": "hose", "size": 3}}},
    {"functionResponse": {"name": "find_price", "response": {"price": 19, "sold": True}}},
    *TEXT,
]
TASKS: Mapping[str, dict[str, Any]] = {
    "stop": {"script": ["And the rake?", "thanks </FINISHED> bye"]},
    "limit": {"simulator": {"max_allowed_invocations": 3}},
    "starting prompt only": {"simulator": {"maxAllowedInvocations": 1}},
    "no turns": {"simulator": {"max_allowed_invocations": 0}},
    "no limit": {"simulator": {"max_allowed_invocations": -1}},
    "default limit": {"simulator": {}},
    "space is a message": {"script": [" ", "</finished>"]},
    "empty": {"script": [""]},
    "prompt that stops": {"prompt": "done </Finished>"},
    "empty prompt": {"prompt": ""},
    "custom": {"simulator": {"custom_instructions": CUSTOM}, "script": ["Rake?", "</finished>"]},
    "calls": {
        "simulator": {"customInstructions": CUSTOM, "includeFunctionCalls": True},
        "script": ["Rake?", "</finished>"],
        "reply": CALLED,
    },
    "no calls": {"simulator": {"custom_instructions": CUSTOM}, "reply": CALLED},
    "persona": {"simulator": {"custom_instructions": WITH_PERSONA}, "persona": PERSONA},
    "persona without placeholder": {
        "simulator": {"custom_instructions": CUSTOM},
        "persona": PERSONA,
    },
    "missing placeholder": {"simulator": {"custom_instructions": "{{ stop_signal }}"}},
    "no template": {"simulator": {"custom_instructions": CUSTOM + "{% if %}"}},
    "unknown filter": {"simulator": {"custom_instructions": CUSTOM + "{{ persona | loud }}"}},
    "unsafe": {"simulator": {"custom_instructions": CUSTOM + "{{ stop_signal.__class__.mro() }}"}},
}


def config_of(task: Mapping[str, Any]) -> dict[str, Any]:
    return {"criteria": {}, "user_simulator_config": task.get("simulator", {})}


@pytest.fixture(scope="module")
def adk() -> dict[str, dict[str, Any]]:
    """What google-adk does with each task."""
    tasks = [
        {
            "config": config_of(task),
            "scenario": {
                "starting_prompt": task.get("prompt", "Hi, prices please"),
                "conversation_plan": "Ask for two prices.",
                "user_persona": task.get("persona"),
            },
            "script": task.get("script", ["More?"]),
            "reply": task.get("reply", TEXT),
        }
        for task in TASKS.values()
    ]
    python = Path(os.environ.get("CAROB_PEERS", ROOT / ".peers/bin/python"))
    ended = subprocess.run(
        [python, ROOT / "tests/oracle/adk_simulator.py"],
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        env=os.environ | {"GOOGLE_API_KEY": "none"},
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    return dict(zip(TASKS, json.loads(ended.stdout), strict=True))


def say(text: str) -> ServerResponse:
    """A reply in plain text, as ADK's model gives it."""
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 50, "completion_tokens": 5}
    return json_response(
        {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
    )


def answer(_message: str) -> dict[str, Any]:
    return {"response": "The hose costs 19 euros.", "agents": ["agent"]}


def answer_with_call(_message: str) -> dict[str, Any]:
    call = {"name": "find_price", "args": {"item": "hose", "size": 3}}
    result = {"name": "find_price", "result": {"price": 19, "sold": True}}
    return {**answer(""), "tool_calls": [call], "tool_results": [result]}


def play(
    task: Mapping[str, Any],
    server: ScriptedServer,
    folder: Path,
    problems: list[Problem],
    **live: Any,
) -> tuple[Run, list[str]]:
    """Run a scenario with the config of a task, and return the run and what the agent heard."""
    heard: list[str] = []
    reply = answer_with_call if task.get("reply") else answer

    def agent(message: str) -> dict[str, Any]:
        heard.append(message)
        return reply(message)

    path = folder / "test_config.json"
    path.write_text(json.dumps(config_of(task)))
    scenario = Scenario(
        task.get("prompt", "Hi, prices please"), "Ask for two prices.", task.get("persona")
    )
    options: dict[str, Any] = {"target": agent, "simulator": "vllm:user", **live}
    request = RunRequest(
        golden=Dataset(name="garden", cases=[Case(id="prices", scenario=scenario)]),
        metrics=["latency"],
        config=path,
        live=LiveRequest(**options),
        save=False,
    )
    return evaluate(request, Listeners(problem=problems.append)).run, heard


@pytest.mark.parametrize("name", TASKS)
def test_users_are_played_as_google_adk_plays_them(
    adk: dict[str, dict[str, Any]], name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    task, expected = TASKS[name], adk[name]
    script = [say(text) for text in task.get("script", ["More?"])]
    with ScriptedServer(script) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        limit = 30 if expected.get("end", "") is None else None  # ADK was stopped after so many
        try:
            run, heard = play(task, server, tmp_path, [], max_turns=limit)
        except UsageError:
            assert "error" in expected
            return
        prompts = [request.json["messages"][-1]["content"] for request in server.requests]
    if "error" in expected:
        assert run.cases[0].status == "error"
        return
    assert heard == expected["messages"]
    if "customInstructions" in task.get("simulator", {}) or "custom" in name or "persona" in name:
        assert prompts == expected["prompts"]


def test_config_is_read_and_unknown_keys_are_part_of_the_fingerprint(tmp_path: Path):
    path = tmp_path / "test_config.json"
    simulator = {
        "model": "gemini-2.5-flash",
        "modelConfiguration": {"temperature": 0.5, "maxOutputTokens": 99, "topP": 0.9},
        "maxAllowedInvocations": 4,
        "includeFunctionCalls": True,
        "pace": "slow",
    }
    path.write_text(json.dumps({"criteria": {}, "userSimulatorConfig": simulator}))
    assert load_config(path).simulator == SimulatorSettings(
        model="gemini-2.5-flash",
        temperature=0.5,
        max_tokens=99,
        max_turns=4,
        with_calls=True,
        other={"pace": "slow", "model_configuration": {"topP": 0.9}},
    )


def test_settings_without_effect_are_named_and_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    problems: list[Problem] = []
    task = {"simulator": {"pace": "slow", "max_allowed_invocations": 1}}
    with ScriptedServer(say("x")) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        run, _ = play(task, server, tmp_path, problems)
    assert [problem.message for problem in problems] == [
        "user_simulator_config: pace has no effect"
    ]
    assert run.target
    assert run.target.simulator
    assert run.target.simulator.max_turns == 1
    assert run.target.simulator.params["pace"] == "slow"


def test_custom_instructions_and_seen_calls_change_the_fingerprint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    described: set[bytes] = set()
    settings: tuple[dict[str, Any], ...] = (
        {},
        {"custom_instructions": CUSTOM},
        {"include_function_calls": True},
    )
    with ScriptedServer(say("</finished>")) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        for simulator in settings:
            run, _ = play({"simulator": simulator}, server, tmp_path, [])
            assert run.target
            described.add(msgspec.json.encode(run.target.simulator))
    assert len(described) == 3


def test_model_of_the_config_is_asked_unless_the_caller_names_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    simulator = {"model": "vllm/played", "max_allowed_invocations": 2}
    with ScriptedServer(say("More?")) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        run, heard = play({"simulator": simulator}, server, tmp_path, [], simulator=None)
        assert [request.json["model"] for request in server.requests] == ["played"]
    assert heard == ["Hi, prices please", "More?"]
    assert run.target
    assert run.target.simulator
    assert run.target.simulator.model == "vllm:played"


def test_limit_of_the_caller_comes_before_that_of_the_config(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    with ScriptedServer(say("More?")) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        task = {"simulator": {"max_allowed_invocations": 4}}
        _, heard = play(task, server, tmp_path, [], max_turns=2)
    assert len(heard) == 2


def test_users_who_speak_are_refused_before_anything_is_asked(tmp_path: Path):
    with ScriptedServer(say("x")) as server, pytest.raises(UsageError, match="'llm_audio'"):
        play({"simulator": {"type": "llm_audio"}}, server, tmp_path, [])


def test_traces_are_scored_whatever_the_config_says_about_users(tmp_path: Path):
    path = tmp_path / "test_config.json"
    config = {"criteria": {"response_match_score": 0.5}}
    path.write_text(json.dumps({**config, "user_simulator_config": {"type": "llm_audio"}}))
    case = Case(id="a", turns=(carob.Turn(user="hi", response="Hello"),))
    request = RunRequest(
        golden=Dataset(name="d", cases=[case]),
        config=path,
        live=LiveRequest(target=lambda message: "Hello"),  # pyright: ignore[reportUnknownLambdaType]
        save=False,
    )
    assert evaluate(request).run.verdict == "passed"
