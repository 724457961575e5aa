from __future__ import annotations

import asyncio
import json
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from carob.judges.model import (
    JudgeMessage,
    JudgeReply,
    JudgeRequest,
    ProviderError,
    RateLimit,
    Token,
)
from carob.judges.providers import chat as chat_module
from carob.judges.providers.chat import ChatModel
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings
from tests.judges.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerResponse,
    json_response,
)

KEY = "sk-test-4f9a8b7c6d5e4f3a2b1c"
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def completion(content: str | None = '{"verdict": "yes"}', **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}}
    choice |= {"finish_reason": "stop"} | fields
    return {"choices": [choice], "usage": {"prompt_tokens": 31, "completion_tokens": 7}}


def request(**fields: Any) -> JudgeRequest:
    defaults: dict[str, Any] = {
        "messages": (
            JudgeMessage(role="system", text="You are a judge."),
            JudgeMessage(role="user", text="Is it right?"),
        ),
        "schema": SCHEMA,
        "max_tokens": 50,
        "temperature": 0.0,
    }
    return JudgeRequest(**defaults | fields)


def choice(server: ScriptedServer, **fields: Any) -> JudgeSettings:
    defaults: dict[str, Any] = {
        "model": "openai:judge-1",
        "url": f"{server.url}/v1",
        "key_env": "JUDGE_KEY",
    }
    return JudgeSettings(**defaults | fields)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", KEY)


async def _ask(chosen: JudgeSettings, *requests: JudgeRequest) -> list[JudgeReply]:
    model = open_model(chosen)
    try:
        return [await model.reply(request) for request in requests]
    finally:
        await model.close()


def ask(server: ScriptedServer, *requests: JudgeRequest, **fields: Any) -> JudgeReply:
    """The last reply."""
    return asyncio.run(_ask(choice(server, **fields), *(requests or (request(),))))[-1]


def expect_error(server: ScriptedServer, *requests: JudgeRequest, **fields: Any) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        ask(server, *requests, **fields)
    return caught.value


def test_reply_is_returned_unchanged():
    with ScriptedServer(json_response(completion())) as server:
        reply = ask(server)
    assert reply == JudgeReply(text='{"verdict": "yes"}', input_tokens=31, output_tokens=7)
    (received,) = server.requests
    assert (received.method, received.path) == ("POST", "/v1/chat/completions")
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert received.json == {
        "model": "judge-1",
        "messages": [
            {"role": "system", "content": "You are a judge."},
            {"role": "user", "content": "Is it right?"},
        ],
        "max_tokens": 50,
        "temperature": 0.0,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }


def test_requests_share_a_connection():
    with ScriptedServer(json_response(completion())) as server:
        ask(server, *[request()] * 3)
        assert len(server.requests) == 3
        assert server.closed()


def test_temperature_is_not_sent_if_unset():
    with ScriptedServer(json_response(completion())) as server:
        ask(server, request(temperature=None))
    assert "temperature" not in server.requests[0].json


def test_reply_at_the_token_limit_is_truncated():
    with ScriptedServer(json_response(completion('{"verd', finish_reason="length"))) as server:
        assert ask(server).truncated


def test_tokens_come_with_their_probabilities():
    logprobs: dict[str, Any] = {
        "content": [
            {
                "token": "yes",
                "logprob": -0.5,
                "top_logprobs": [
                    {"token": "yes", "logprob": -0.5},
                    {"token": "no", "logprob": -1.0},
                    {"token": "no", "logprob": -2.0},
                    {"token": "never", "logprob": None},
                ],
            },
            {"token": ".", "logprob": 0.0, "top_logprobs": []},
        ]
    }
    with ScriptedServer(json_response(completion("yes.", logprobs=logprobs))) as server:
        first, second = ask(server, request(probabilities=True)).tokens
    assert server.requests[0].json["logprobs"] is True
    assert server.requests[0].json["top_logprobs"] == 20
    assert first.text == "yes"
    assert first.alternatives == pytest.approx({"yes": 0.6065, "no": 0.5032, "never": 0}, abs=1e-4)
    assert second == Token(text=".", alternatives={".": 1.0})


def test_words_are_requested_with_one_token_and_no_schema():
    with ScriptedServer(json_response(completion("yes"))) as server:
        ask(server, request(words=("yes", "no")))
    body = server.requests[0].json
    assert body["max_tokens"] == 1
    assert body["logprobs"] is True
    assert "response_format" not in body


def test_rate_limits_are_reported():
    headers = {
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": "99",
        "x-ratelimit-reset-requests": "6m0s",
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "10",
        "x-ratelimit-reset-tokens": "120ms",
    }
    with ScriptedServer(json_response(completion(), headers=headers)) as server:
        assert ask(server).rate_limit == RateLimit(requests=99, tokens=10, reset=0.12)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{oops", "did not return a chat completion"),
        (b"[]", "did not return a chat completion"),
        (b'{"choices": [{"message": "yes"}]}', "at `$.choices[0].message`"),
        (b'{"choices": []}', "returned a completion without choices"),
        (b"[" * 100_000, "did not return a chat completion"),
        (b"", "did not return a chat completion"),
    ],
)
def test_invalid_completion_is_malformed(body: bytes, message: str):
    with ScriptedServer(
        ServerResponse(headers={"Content-Type": "application/json"}, body=body)
    ) as server:
        error = expect_error(server)
    assert error.kind == "malformed"
    assert error.transient
    assert message in str(error)


def test_html_reply_is_malformed():
    page = ServerResponse(
        headers={"Content-Type": "text/html; charset=utf-8"}, body=b"<h1>Log in</h1>"
    )
    with ScriptedServer(page) as server:
        error = expect_error(server)
    assert str(error) == ("openai:judge-1 returned content of type 'text/html', expected JSON")
    assert error.kind == "malformed"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
    ids=["seconds", "milliseconds", "nonsense", "none"],
)
def test_http_429_is_a_rate_limit_with_retry_after(headers: Mapping[str, str], wait: float | None):
    with ScriptedServer(
        json_response({"error": {"message": "slow"}}, status=429, headers=headers)
    ) as server:
        error = expect_error(server)
    assert error.kind == "rate_limit"
    assert error.transient
    assert error.retry_after == wait
    assert len(server.requests) == 1


def test_retry_after_may_be_a_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with ScriptedServer(json_response({}, status=429, headers={"Retry-After": soon})) as server:
        error = expect_error(server)
    assert error.retry_after == pytest.approx(30, abs=5)


def test_retry_delay_is_read_from_the_body():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]
    body = [{"error": {"code": 429, "message": "Quota exceeded", "details": details}}]
    with ScriptedServer(json_response(body, status=429)) as server:
        error = expect_error(server)
    assert error.retry_after == 34
    assert "Quota exceeded" in str(error)


def test_exhausted_quota_is_not_transient():
    body = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
    with ScriptedServer(json_response(body, status=429)) as server:
        error = expect_error(server)
    assert error.kind == "denied"
    assert not error.transient


@pytest.mark.parametrize(
    ("status", "trouble"),
    [
        (500, "overloaded"),
        (503, "overloaded"),
        (529, "overloaded"),
        (504, "timeout"),
        (408, "timeout"),
    ],
)
def test_server_errors_are_transient(status: int, trouble: str):
    with ScriptedServer(ServerResponse(status=status, body=b"upstream")) as server:
        error = expect_error(server)
    assert (error.kind, error.transient) == (trouble, True)
    assert str(error) == f"openai:judge-1 returned HTTP {status}"


def test_unknown_model_error_quotes_the_provider():
    with ScriptedServer(
        json_response({"error": "model 'judge-1' not found"}, status=404)
    ) as server:
        error = expect_error(server)
    assert error.kind == "rejected"
    assert not error.transient
    assert str(error) == """openai:judge-1 returned HTTP 404: "model 'judge-1' not found\""""


def test_prompt_that_is_too_long_is_reported():
    body = {"error": {"message": "at most 8192 tokens", "code": "context_length_exceeded"}}
    with ScriptedServer(json_response(body, status=400)) as server:
        error = expect_error(server)
    assert str(error) == "the prompt is too long for openai:judge-1: 'at most 8192 tokens'"
    assert error.kind == "rejected"


def _printable(error: BaseException | None) -> str:
    """Every text that could be printed of an error."""
    text = ""
    while error is not None:
        formatted = "".join(traceback.format_exception(error))
        text += f"{error} {error!r} {error.args} {vars(error)} {formatted}"
        error = error.__context__
    return text


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_key_in_an_error_body_is_redacted(status: int):
    body = {"error": {"message": f"Incorrect API key: {KEY}. Also {KEY[:9]}***{KEY[-8:]}."}}
    with ScriptedServer(json_response(body, status=status)) as server:
        error = expect_error(server)
    text = _printable(error)
    assert not [piece for at in range(len(KEY) - 5) if (piece := KEY[at : at + 6]) in text]


def test_denied_key_is_named_by_its_variable():
    with ScriptedServer(json_response({"error": {"message": "no"}}, status=401)) as server:
        error = expect_error(server)
    assert str(error) == "openai:judge-1 refused the key in JUDGE_KEY (HTTP 401)"
    assert (error.kind, error.transient) == ("denied", False)


def test_connection_error_does_not_show_the_key():
    with ScriptedServer(ServerResponse(body=b"x" * 100, truncated=10)) as server:
        error = expect_error(server)
    assert error.__context__ is None
    assert error.__cause__ is None
    assert KEY not in _printable(error)


def test_unreachable_server_is_disconnected():
    with ScriptedServer(ServerResponse()) as server:
        chosen = choice(server)
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        asyncio.run(_ask(chosen, request()))
    assert caught.value.kind == "disconnected"


@pytest.mark.parametrize("cut", [0, 20])
def test_interrupted_reply_is_disconnected(cut: int):
    good = json_response(completion())
    with ScriptedServer(
        ServerResponse(headers=good.headers, body=good.body, truncated=cut)
    ) as server:
        error = expect_error(server)
        assert error.kind == "disconnected"
        assert error.transient
        assert server.closed()


def test_invalid_http_is_malformed():
    with ScriptedServer(ServerResponse(headers={"Bad header\x01": "x"}, body=b"?")) as server:
        error = expect_error(server)
    assert error.kind == "malformed"


def test_slow_reply_is_read_completely():
    good = json_response(completion())
    slow = ServerResponse(headers=good.headers, body=good.body, drip=0.01, delay=0.05)
    with ScriptedServer(slow) as server:
        assert ask(server).text == '{"verdict": "yes"}'


def test_request_can_be_cancelled():
    async def impatient() -> float:
        model = open_model(choice(server))
        start = time.monotonic()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.reply(request()), 0.2)
        took = time.monotonic() - start
        assert await asyncio.to_thread(server.closed)  # before the model is closed
        await model.close()
        return took

    with ScriptedServer(ServerResponse(delay=3600)) as server:
        assert asyncio.run(impatient()) < 5


def test_cancelled_request_does_not_affect_others():
    async def three(server: ScriptedServer) -> list[JudgeReply | BaseException]:
        model = open_model(choice(server, concurrency=2))
        slow = asyncio.create_task(model.reply(request(max_tokens=1)))
        others = [asyncio.create_task(model.reply(request())) for _ in range(3)]
        await asyncio.sleep(0.1)
        slow.cancel()
        replies = await asyncio.gather(slow, *others, return_exceptions=True)
        await model.close()
        return replies

    def script(received: ReceivedRequest) -> ServerResponse:
        hangs = received.json["max_tokens"] == 1
        return ServerResponse(delay=3600) if hangs else json_response(completion())

    with ScriptedServer(script) as server:
        slow, *others = asyncio.run(three(server))
    assert isinstance(slow, asyncio.CancelledError)
    assert all(isinstance(reply, JudgeReply) for reply in others)


def test_concurrent_connections_are_limited():
    most_open = 0

    def script(received: ReceivedRequest) -> ServerResponse:
        nonlocal most_open
        most_open = max(most_open, server.open)
        return ServerResponse(headers=good.headers, body=good.body, delay=0.02)

    async def many() -> None:
        model = open_model(choice(server, concurrency=3))
        await asyncio.gather(*[model.reply(request()) for _ in range(12)])
        await model.close()

    good = json_response(completion())
    with ScriptedServer(script) as server:
        asyncio.run(many())
    assert most_open == 3


def test_body_over_the_limit_is_not_read_completely(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chat_module, "MAX_BODY", 1000)
    body = json.dumps(completion("x" * 5000)).encode()
    with ScriptedServer(
        ServerResponse(headers={"Content-Type": "application/json"}, body=body)
    ) as server:
        error = expect_error(server)
        assert server.closed()
    assert str(error) == "openai:judge-1 returned more than 1000 bytes"
    assert error.kind == "malformed"


def test_redirect_is_not_followed():
    with ScriptedServer(json_response(completion())) as target:
        redirect = ServerResponse(
            status=307, headers={"Location": f"{target.url}/v1/chat/completions"}
        )
        with ScriptedServer(redirect) as server:
            error = expect_error(server)
        assert target.requests == []
    assert error.kind == "rejected"
    assert "returned a redirect (HTTP 307), which is not followed" in str(error)


def test_content_filter_is_a_rejection():
    with ScriptedServer(json_response(completion(None, finish_reason="content_filter"))) as server:
        error = expect_error(server)
    assert str(error) == "the content filter of openai:judge-1 stopped the answer"
    assert error.kind == "rejected"


def test_declined_request_is_a_rejection():
    message = {"role": "assistant", "content": None, "refusal": "I cannot judge this."}
    with ScriptedServer(json_response(completion(message=message))) as server:
        error = expect_error(server)
    assert str(error) == "openai:judge-1 declined to answer: 'I cannot judge this.'"
    assert error.kind == "rejected"


def test_provider_message_is_shortened_to_one_line():
    with ScriptedServer(
        json_response({"error": {"message": "a\n" + "b" * 900_000}}, status=400)
    ) as server:
        error = expect_error(server)
    assert len(str(error)) < 400
    assert "\n" not in str(error)


@pytest.mark.parametrize("name", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_loopback_requests_bypass_the_proxy(name: str, monkeypatch: pytest.MonkeyPatch):
    with (
        ScriptedServer(ServerResponse(status=502)) as proxy,
        ScriptedServer(json_response(completion())) as server,
    ):
        monkeypatch.setenv(name, proxy.url)
        assert ask(server).text
    assert proxy.requests == []


def test_other_requests_use_the_proxy(monkeypatch: pytest.MonkeyPatch):
    with ScriptedServer(json_response(completion())) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        chosen = JudgeSettings(model="openai:judge-1", url="http://judge.invalid/v1")
        asyncio.run(_ask(chosen, request()))
    assert proxy.requests[0].path == "http://judge.invalid/v1/chat/completions"
    assert "authorization" not in proxy.requests[0].headers


def test_proxy_password_is_not_shown(monkeypatch: pytest.MonkeyPatch):
    with ScriptedServer(ServerResponse()) as stopped:
        port = stopped.url.rpartition(":")[2]
    monkeypatch.setenv("http_proxy", f"http://user:hunter2hunter2@127.0.0.1:{port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    chosen = JudgeSettings(model="openai:judge-1", url="http://judge.invalid/v1")
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        asyncio.run(_ask(chosen, request()))
    assert "hunter2" not in _printable(caught.value)


def test_model_can_be_closed_twice_and_before_any_request():
    async def twice(server: ScriptedServer) -> None:
        model = open_model(choice(server))
        assert isinstance(model, ChatModel)
        await model.close()
        await model.close()

    with ScriptedServer(ServerResponse()) as server:
        asyncio.run(twice(server))
