"""Agents over HTTP that a template describes, against a server on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import carob
from carob.api.live_request import LiveRequest
from carob.api.run_request import RunRequest
from carob.api.running.rescore import load_rescored
from carob.api.runs import evaluate
from carob.errors import CarobError
from carob.schema import Case, CaseSession, Dataset, Run, Turn
from tests.judges.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerResponse,
    json_response,
)

SESSION = CaseSession(app="shop", user="mara", state={"tier": "gold"})
MESSAGE = 'Is "order 12" \\ shipped? {{state}}'


def golden(*turns: Turn, **fields: Any) -> Dataset:
    case = Case(id="order", turns=turns, session=SESSION, metadata={"lang": "en"}, **fields)
    return Dataset(name="shop", cases=[case])


def run(folder: Path, template: str, dataset: Dataset, **options: Any) -> Run:
    file = folder / "agent.toml"
    file.write_text(template)
    metrics = options.pop("metrics", "exact_match")
    return carob.run(golden=dataset, target=f"http:{file}", metrics=metrics, **options)


def test_values_are_sent_as_json_and_never_pasted(tmp_path: Path):
    with ScriptedServer(json_response({"reply": {"text": "yes"}, "sid": "s1"})) as server:
        template = f"""
            url = "{server.url}/chat/{{{{session}}}}"
            [headers]
            X-Case = "case {{{{case.id}}}}"
            [body]
            text = "{{{{message}}}}"
            greeting = "Say: {{{{message}}}}"
            state = "{{{{state}}}}"
            history = "{{{{history}}}}"
            lang = "{{{{case.lang}}}}"
            missing = "{{{{case.nothing}}}}"
            turn = "{{{{turn}}}}"
            [answer]
            response = "$.reply.text"
            session = "$.sid"
        """
        turns = (Turn(user=MESSAGE, response="yes"), Turn(user="Sure?", response="yes"))
        scored = run(tmp_path, template, golden(*turns))
        first, second = server.requests
    assert scored.verdict == "passed"
    assert first.json == {
        "text": MESSAGE,
        "greeting": f"Say: {MESSAGE}",
        "state": {"tier": "gold"},
        "history": [],
        "lang": "en",
        "missing": None,
        "turn": 0,
    }
    assert first.headers["x-case"] == "case order"
    assert first.headers["traceparent"].startswith("00-")
    assert second.path == "/chat/s1"
    assert second.json["history"] == [
        {"role": "user", "content": MESSAGE},
        {"role": "assistant", "content": "yes"},
    ]


def test_calls_usage_and_state_are_found_by_path(tmp_path: Path):
    reply = {
        "choices": [{"text": "shipped"}],
        "tools": [{"name": "get_order", "args": {"id": 12}}],
        "tokens": {"input_tokens": 7, "output_tokens": 3},
        "memory": {"last": 12},
    }
    with ScriptedServer(json_response(reply)) as server:
        template = f"""
            url = "{server.url}"
            body = {{ q = "{{{{message}}}}" }}
            [answer]
            response = "$.choices[0].text"
            tool_calls = "$.tools"
            usage = "$.tokens"
            state = "$.memory"
        """
        dataset = golden(Turn(user="order?", response="shipped"), state={"last": 12})
        scored = run(
            tmp_path, template, dataset, metrics=["state_management_fidelity", "token_usage"]
        )
    assert [score.value for score in scored.cases[0].scores] == [1.0, 10]


def test_error_in_a_good_status_is_an_error(tmp_path: Path):
    with ScriptedServer(
        json_response({"text": "", "error": {"message": "no such shop"}})
    ) as server:
        template = f"""
            url = "{server.url}"
            [answer]
            response = "$.text"
            error = "$.error"
        """
        (result,) = run(tmp_path, template, golden(Turn(user="hi"))).cases
    assert result.scores[0].reason == "agent: no such shop"


def test_agents_are_chained_by_steps(tmp_path: Path):
    def answer(request: ReceivedRequest) -> ServerResponse:
        if request.path == "/plan":
            return json_response({"out": f"plan for {request.json['q']}"})
        return json_response({"out": request.json["plan"].upper()})

    with ScriptedServer(answer) as server:
        template = f"""
            [[steps]]
            name = "planner"
            url = "{server.url}/plan"
            body = {{ q = "{{{{message}}}}" }}
            answer = {{ response = "$.out" }}
            [[steps]]
            name = "writer"
            url = "{server.url}/write"
            body = {{ plan = "{{{{steps.planner.response}}}}" }}
            answer = {{ response = "$.out" }}
        """
        case = Case(
            id="trip",
            turns=(Turn(user="rome", response="PLAN FOR ROME"),),
            trajectory=("planner", "writer"),
        )
        dataset = Dataset(name="shop", cases=[case])
        scored = run(tmp_path, template, dataset, metrics=["exact_match", "trajectory_accuracy"])
    assert [score.value for score in scored.cases[0].scores] == [1.0, 1.0]


def test_stream_is_joined(tmp_path: Path):
    events = b'data: {"d": "ship"}\n\nevent: x\ndata: {"d": "ped"}\n\ndata: [DONE]\n\n'
    response = ServerResponse(headers={"Content-Type": "text/event-stream"}, body=events)
    with ScriptedServer(response) as server:
        template = f'url = "{server.url}"\ndelta = "$.d"\n[body]\nq = "{{{{message}}}}"\n'
        scored = run(tmp_path, template, golden(Turn(user="order?", response="shipped")))
    assert scored.verdict == "passed"


def test_time_to_the_first_piece_of_a_stream_is_recorded(tmp_path: Path):
    events = b'data: {"d": ""}\n\n' + b'data: {"d": "a"}\n\n' * 3
    response = ServerResponse(
        headers={"Content-Type": "text/event-stream"}, body=events, delay=0.1, drip=0.02
    )
    store = str(tmp_path / "runs.db")
    with ScriptedServer(response) as server:
        file = tmp_path / "agent.toml"
        file.write_text(f'url = "{server.url}"\ndelta = "$.d"\n[body]\nq = "{{{{message}}}}"\n')
        request = RunRequest(
            golden=golden(Turn(user="a"), Turn(user="b")),
            metrics=["latency"],
            live=LiveRequest(target=f"http:{file}"),
            store=store,
            labels={"a": "b"},
        )
        run = evaluate(request).run
    request, _ = load_rescored(RunRequest(store=store, rescore=run.id), run.id)
    (trace,) = request.recorded
    first = trace.attributes["carob.time_to_first_token_ms"]
    assert isinstance(first, list)
    assert len(first) == 2
    durations = [(turn.end or 0) - (turn.start or 0) for turn in trace.turns]
    for wait, duration in zip(first, durations, strict=True):
        assert 100 <= float(str(wait)) < duration / 1e6


def test_session_is_opened_and_closed(tmp_path: Path):
    def answer(request: ReceivedRequest) -> ServerResponse:
        bodies = {
            "/open": {"id": "abc"},
            "/say/abc": {"text": "hello"},
            "/close/abc": {"state": {"done": True}},
        }
        return json_response(bodies[request.path])

    with ScriptedServer(answer) as server:
        template = f"""
            url = "{server.url}/say/{{{{session}}}}"
            body = {{ q = "{{{{message}}}}" }}
            answer = {{ response = "text" }}
            [open]
            url = "{server.url}/open"
            body = {{ state = "{{{{state}}}}" }}
            answer = {{ session = "id" }}
            [close]
            url = "{server.url}/close/{{{{session}}}}"
            answer = {{ state = "state" }}
        """
        dataset = golden(Turn(user="hi", response="hello"), state={"done": True})
        scored = run(tmp_path, template, dataset, metrics=["state_management_fidelity"])
        assert server.requests[0].json == {"state": {"tier": "gold"}}
    assert scored.cases[0].scores[0].value == 1.0


def test_busy_server_is_asked_again_in_a_new_session(tmp_path: Path):
    busy = json_response({"detail": "busy"}, status=429, headers={"Retry-After": "0"})
    with ScriptedServer([busy, json_response({"text": "hi"})]) as server:
        template = f"""
            url = "{server.url}"
            body = {{ session = "{{{{session}}}}" }}
            answer = {{ response = "text" }}
        """
        scored = run(tmp_path, template, golden(Turn(user="hi", response="hi")))
        sessions = [request.json["session"] for request in server.requests]
    assert scored.verdict == "passed"
    assert len(set(sessions)) == 2


def test_key_is_sent_and_never_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_TOKEN", "secret-token-123")
    leak = json_response({"detail": "bad token secret-token-123"}, status=500)
    with ScriptedServer(leak) as server:
        file = tmp_path / "agent.toml"
        file.write_text(f'url = "{server.url}"\n[answer]\nresponse = "text"\n')
        target = {"name": f"http:{file}", "key_env": "SHOP_TOKEN"}
        scored = carob.run(golden=golden(Turn(user="hi")), target=target, metrics="exact_match")
        assert server.requests[0].headers["authorization"] == "Bearer secret-token-123"
    reason = scored.cases[0].scores[0].reason
    assert "HTTP 500" in reason
    assert "secret-token" not in reason


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("url = 'ftp://x'\n[answer]\nresponse='a'", "expected an http or https URL"),
        ("url = 'http://u:p@x'\n[answer]\nresponse='a'", "must not contain credentials"),
        ("url = 'http://x'", "no path to the response"),
        ("url = 'http://x'\n[answer]\nresponse='a[b]'", "invalid path"),
        ("url = 'http://x'\nbody='{{mesage}}'\n[answer]\nresponse='a'", "unknown placeholder"),
        ("url = 'http://x'\nbdy=1\n[answer]\nresponse='a'", "bdy"),
        ("url = ", "Invalid value"),
        ("url = 'http://x'\n[answer]\nresponse='a'\nreply='b'", "unknown answer 'reply'"),
    ],
)
def test_wrong_template_is_refused_before_anything_is_sent(
    tmp_path: Path, template: str, message: str
):
    with pytest.raises(CarobError) as caught:
        run(tmp_path, template, golden(Turn(user="hi")))
    assert message in str(caught.value)
    assert "agent.toml" in str(caught.value)
