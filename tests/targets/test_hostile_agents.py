"""Agents that misbehave: each is the error of its own conversation, and never a silent score."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

import carob
from carob.schema import Case, Dataset, Run
from tests.judges.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerResponse,
    json_response,
)

KEY = "sk-shop-7f3a9b1c2d"
SSE = {"Content-Type": "text/event-stream"}


class Opaque:
    """An object that JSON has no place for."""


def nested() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


UNWRITABLE: dict[str, Any] = {
    "half a character": "\ud800 hi",
    "object": {"response": "x", "tool_results": [{"name": "t", "result": Opaque()}]},
    "keys": {"response": "x", "tool_calls": [{"name": "t", "args": {(1, 2): "a"}}]},
    "cycle": {"response": "x", "state": {"a": nested()}},
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_answer_that_cannot_be_written_stops_no_other_case(name: str):
    def answer(message: str) -> Any:
        return UNWRITABLE[name] if message == "bad" else "ok"

    cases = [Case.of(message, "ok", id=message) for message in ("bad", "good")]
    run = carob.run(golden=Dataset(name="d", cases=cases), target=answer, metrics="exact_match")
    assert [case.status for case in run.cases] == ["error", "passed"]
    assert "the answer cannot be recorded" in run.cases[0].scores[0].reason


def test_tokens_that_make_no_sense_stop_no_run():
    def answer(message: str) -> dict[str, Any]:
        return {"response": "ok", "model": "gpt-5-mini", "usage": {"input_tokens": -5}}

    case = Case.of("hi", "ok", id="a")
    golden = Dataset(name="d", cases=[case])
    assert carob.run(golden=golden, target=answer, metrics="exact_match").verdict == "passed"


def ask(folder: Path, script: Any, *, stream: bool = False, **options: Any) -> Run:
    """Ask an agent over HTTP, described by a template, with a key."""
    with ScriptedServer(script) as server:
        file = folder / "agent.toml"
        delta = 'delta = "$.d"\n' if stream else ""
        file.write_text(
            f'url = "{server.url}"\n{delta}[body]\nq = "{{{{message}}}}"\n'
            + ("" if stream else '[answer]\nresponse = "$.reply"\n')
        )
        case = Case.of("hi", "ok", id="a")
        return carob.run(
            golden=Dataset(name="d", cases=[case]),
            target={"name": f"http:{file}", "key_env": "SHOP_KEY"},
            metrics="exact_match",
            **options,
        )


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", KEY)


def error_of(run: Run) -> str:
    (case,) = run.cases
    assert case.status == "error"
    return case.scores[0].reason


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (ServerResponse(body=b"<html>log in</html>"), "protocol: expected JSON"),
        (ServerResponse(body=b'{"reply": "caf\xe9"}'), "protocol: expected JSON"),
        (ServerResponse(body=b'{"reply": "ok"'), "protocol: expected JSON"),
        (ServerResponse(body=b"[" * 200_000), "agent: RecursionError"),
        (json_response({"other": 1}), "protocol: the answer has nothing at $.reply"),
        (json_response({"reply": 7}), "agent: UsageError: invalid answer"),
        (json_response([1, 2]), "protocol: the answer has nothing at $.reply"),
        (
            ServerResponse(status=302, headers={"Location": "http://127.0.0.1:9/"}),
            "protocol: HTTP 302",
        ),
        (ServerResponse(body=b'{"reply": "ok"}', truncated=5), "connection: "),
        (ServerResponse(status=401, body=KEY.encode()), "denied: HTTP 401"),
    ],
)
def test_garbage_is_an_error_with_its_cause(tmp_path: Path, response: ServerResponse, reason: str):
    assert error_of(ask(tmp_path, response)).startswith(reason)


def test_key_that_an_agent_repeats_is_not_recorded(tmp_path: Path):
    def echo(request: ReceivedRequest) -> ServerResponse:
        return json_response({"reply": f"You are {request.headers['authorization']}"})

    (case,) = ask(tmp_path, echo).cases
    assert case.exchanges[0].actual == "You are Bearer ***"


def test_key_that_a_stream_repeats_is_not_recorded(tmp_path: Path):
    body = f'data: {{"d": "key {KEY}"}}\n\n'.encode()
    (case,) = ask(tmp_path, ServerResponse(headers=SSE, body=body), stream=True).cases
    assert case.exchanges[0].actual == "key ***"


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (
            ServerResponse(headers={"Content-Type": "text/html"}, body=b"<html>log in</html>"),
            "protocol: expected server-sent events, got text/html: <html>log in",
        ),
        (
            json_response({"error": {"message": f"no such model, {KEY}"}}),
            "protocol: expected server-sent events, got application/json: no such model, ***",
        ),
        (ServerResponse(headers=SSE), "protocol: no event has a text at $.d"),
        (ServerResponse(headers=SSE, body=b"data: {}\n\n"), "protocol: no event has a text"),
        (ServerResponse(headers=SSE, body=b"data: nonsense\n\n"), "protocol: an event is not JSON"),
    ],
)
def test_stream_without_an_answer_is_an_error_and_no_empty_answer(
    tmp_path: Path, response: ServerResponse, reason: str
):
    assert error_of(ask(tmp_path, response, stream=True)).startswith(reason)


def test_stream_that_never_ends_is_cut_off_by_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("carob.targets.http._MAX_BODY", 1 << 20)
    endless = ServerResponse(headers=SSE, body=b'data: {"d": "more"}\n\n' * 200_000)
    reason = error_of(ask(tmp_path, endless, stream=True))
    assert reason == "protocol: the answer is larger than 1 MB"


def test_line_without_an_end_is_read_in_linear_time():
    from carob.targets.http import _SseParser  # pyright: ignore[reportPrivateUsage] - no other door

    parser = _SseParser()
    started = time.process_time()
    for _ in range(16_000):
        assert parser.feed(b"x" * 1000) == []
    assert time.process_time() - started < 2
    assert parser.feed(b"\r\n\r\ndata: a\r\ndata: b\r\n\r\n")[0].data == "a\nb"


def test_stream_that_drips_runs_into_the_limit_of_the_turn(tmp_path: Path):
    slow = ServerResponse(headers=SSE, body=b'data: {"d": "more"}\n\n' * 50, drip=0.05)
    started = time.monotonic()
    reason = error_of(ask(tmp_path, slow, stream=True, turn_timeout=0.3))
    assert reason == "timeout: a turn took longer than 0.3 s"
    assert time.monotonic() - started < 20
