"""The APIs of the three providers as documented, served by a server on loopback."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from carob.errors import UsageError
from carob.judges.model import JudgeMessage, JudgeReply, JudgeRequest, ProviderError, RateLimit
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings
from tests.judges.scripted_server import ScriptedServer, ServerResponse, json_response

KEY = "tok-4f9a8b7c6d5e4f3a2b1c"
TEXT = '{"verdict":"yes"}'
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@dataclass(frozen=True, kw_only=True)
class Wire:
    model: str
    key: str
    """The variable of the key."""
    address: str
    path: str
    good: Any
    """An answer with `TEXT`, 31 tokens in and 7 out."""
    truncated: Any
    declined: Any
    error: Any
    """The body of an error, with `%s` for the message."""


def _anthropic(reason: str, *content: Any) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-6",
        "content": [*content],
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 31, "output_tokens": 7},
    }


def _google(reason: str, *parts: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": [*parts]}
    return {
        "candidates": [{"content": content, "finishReason": reason, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": 31,
            "candidatesTokenCount": 7,
            "totalTokenCount": 38,
        },
        "modelVersion": "gemini-2.5-flash",
    }


def _bedrock(reason: str, *content: Any) -> dict[str, Any]:
    return {
        "output": {"message": {"role": "assistant", "content": [*content]}},
        "stopReason": reason,
        "usage": {"inputTokens": 31, "outputTokens": 7, "totalTokens": 38},
        "metrics": {"latencyMs": 5},
    }


ANTHROPIC = Wire(
    model="anthropic:claude-sonnet-4-6",
    key="ANTHROPIC_API_KEY",
    address="ANTHROPIC_BASE_URL",
    path="/v1/messages",
    good=_anthropic("end_turn", {"type": "text", "text": TEXT}),
    truncated=_anthropic("max_tokens", {"type": "text", "text": '{"verd'}),
    declined=_anthropic("refusal"),
    error={"type": "error", "error": {"type": "some_error", "message": "%s"}},
)
GOOGLE = Wire(
    model="google:gemini-2.5-flash",
    key="GOOGLE_API_KEY",
    address="GOOGLE_GEMINI_BASE_URL",
    path="/v1/models/gemini-2.5-flash:generateContent",
    good=_google("STOP", {"text": TEXT}),
    truncated=_google("MAX_TOKENS", {"text": '{"verd'}),
    declined=_google("SAFETY"),
    error={"error": {"code": 0, "message": "%s", "status": "SOME_ERROR"}},
)
BEDROCK = Wire(
    model="bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    key="AWS_BEARER_TOKEN_BEDROCK",
    address="AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
    path="/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse",
    good=_bedrock("end_turn", {"text": TEXT}),
    truncated=_bedrock("max_tokens", {"text": '{"verd'}),
    declined=_bedrock("guardrail_intervened"),
    error={"message": "%s"},
)
every = pytest.mark.parametrize("wire", [ANTHROPIC, GOOGLE, BEDROCK], ids=["a", "g", "b"])


def error_response(
    wire: Wire, status: int, message: str = "no", headers: Mapping[str, str] | None = None
) -> ServerResponse:
    failure = json_response(wire.error, status=status, headers=headers)
    return ServerResponse(
        status=status, headers=failure.headers, body=failure.body.replace(b"%s", message.encode())
    )


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


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    for wire in (ANTHROPIC, GOOGLE, BEDROCK):
        monkeypatch.setenv(wire.key, KEY)


async def _ask(choice: JudgeSettings, request: JudgeRequest) -> JudgeReply:
    model = open_model(choice)
    try:
        return await model.reply(request)
    finally:
        await model.close()


@dataclass
class AskProvider:
    monkeypatch: pytest.MonkeyPatch

    def __call__(
        self, wire: Wire, server: ScriptedServer, asked: JudgeRequest | None = None, **fields: Any
    ) -> JudgeReply:
        self.monkeypatch.setenv(wire.address, server.url)
        options: dict[str, Any] = {"model": wire.model, "deadline": 5.0}
        return asyncio.run(_ask(JudgeSettings(**options | fields), asked or request()))

    def expect_error(self, wire: Wire, server: ScriptedServer, **fields: Any) -> ProviderError:
        with pytest.raises(ProviderError) as caught:
            self(wire, server, **fields)
        return caught.value


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> AskProvider:
    return AskProvider(monkeypatch)


@every
def test_reply_takes_one_request(ask: AskProvider, wire: Wire):
    with ScriptedServer(json_response(wire.good)) as server:
        reply = ask(wire, server)
        assert server.closed()
    assert reply == JudgeReply(text=TEXT, input_tokens=31, output_tokens=7)
    (received,) = server.requests
    assert received.path == wire.path
    assert KEY in "".join(received.headers.values())


def test_anthropic_gets_the_schema_as_output_format(ask: AskProvider):
    with ScriptedServer(json_response(ANTHROPIC.good)) as server:
        ask(ANTHROPIC, server)
    body = server.requests[0].json
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert body["model"] == "claude-sonnet-4-6"
    assert body["max_tokens"] == 50
    assert body["temperature"] == 0
    form = body["output_config"]["format"]
    assert form["type"] == "json_schema"
    assert form["schema"]["properties"]["verdict"]["enum"] == ["yes", "no"]
    assert form["schema"]["required"] == ["verdict"]
    assert "You are a judge." in str(body["system"])
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_google_gets_the_schema_as_output_format(ask: AskProvider):
    with ScriptedServer(json_response(GOOGLE.good)) as server:
        ask(GOOGLE, server)
    body = server.requests[0].json
    assert server.requests[0].headers["x-goog-api-key"] == KEY
    config = body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert config["responseJsonSchema"]["properties"] == SCHEMA["properties"]
    assert config["maxOutputTokens"] == 50
    assert config["temperature"] == 0
    assert body["systemInstruction"]["parts"] == [{"text": "You are a judge."}]


def test_bedrock_gets_the_schema_as_output_format(ask: AskProvider):
    with ScriptedServer(json_response(BEDROCK.good)) as server:
        ask(BEDROCK, server)
    body = server.requests[0].json
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert body["inferenceConfig"] == {"maxTokens": 50, "temperature": 0.0}
    assert body["outputConfig"]["textFormat"]["type"] == "json_schema"
    assert body["system"] == [{"text": "You are a judge."}]


def test_bedrock_accepts_a_key_pair(ask: AskProvider, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(BEDROCK.key)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wholly-secret-part-of-it")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "passing-token")
    with ScriptedServer(json_response(BEDROCK.good)) as server:
        assert ask(BEDROCK, server).text == TEXT
    headers = server.requests[0].headers
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/")
    assert "/eu-central-1/bedrock/" in headers["authorization"]
    assert headers["x-amz-security-token"] == "passing-token"
    assert "wholly-secret" not in str(headers)


@pytest.mark.filterwarnings("ignore:The model 'claude-3-5-haiku-latest' is deprecated")
def test_older_anthropic_model_answers_with_a_tool(ask: AskProvider):
    call = {"type": "tool_use", "id": "1", "name": "answer", "input": {"verdict": "yes"}}
    with ScriptedServer(json_response(_anthropic("tool_use", call))) as server:
        reply = ask(ANTHROPIC, server, model="anthropic:claude-3-5-haiku-latest")
    assert reply.text == TEXT
    body = server.requests[0].json
    assert body["tools"][0]["input_schema"]["properties"] == SCHEMA["properties"]
    assert body["tool_choice"]["type"] == "any"


def test_bedrock_model_without_output_formats_answers_with_a_tool(ask: AskProvider):
    call = {"toolUse": {"toolUseId": "1", "name": "answer", "input": {"verdict": "yes"}}}
    with ScriptedServer(json_response(_bedrock("tool_use", call))) as server:
        reply = ask(BEDROCK, server, model="bedrock:meta.llama3-1-70b-instruct-v1:0")
    assert reply.text == TEXT
    (tool,) = server.requests[0].json["toolConfig"]["tools"]
    assert tool["toolSpec"]["inputSchema"]["json"]["properties"] == SCHEMA["properties"]


def test_temperature_is_not_sent_to_models_that_reject_it(ask: AskProvider):
    with ScriptedServer(json_response(ANTHROPIC.good)) as server:
        ask(ANTHROPIC, server, model="anthropic:claude-opus-5")
    assert "temperature" not in server.requests[0].json


@every
def test_earlier_messages_are_sent(ask: AskProvider, wire: Wire):
    messages = (
        JudgeMessage(role="user", text="Is it right?"),
        JudgeMessage(role="assistant", text="It is."),
        JudgeMessage(role="user", text="As JSON."),
    )
    with ScriptedServer(json_response(wire.good)) as server:
        ask(wire, server, request(messages=messages))
    sent = server.requests[0].body.decode()
    assert sent.index("Is it right?") < sent.index("It is.") < sent.index("As JSON.")


@every
def test_reply_at_the_token_limit_is_truncated(ask: AskProvider, wire: Wire):
    with ScriptedServer(json_response(wire.truncated)) as server:
        reply = ask(wire, server)
    assert (reply.text, reply.truncated) == ('{"verd', True)


@every
def test_declined_request_is_a_rejection(ask: AskProvider, wire: Wire):
    with ScriptedServer(json_response(wire.declined)) as server:
        error = ask.expect_error(wire, server)
    assert error.kind == "rejected"
    assert str(error) == f"{wire.model} declined to answer"


@every
def test_http_429_is_a_rate_limit_with_retry_after(ask: AskProvider, wire: Wire):
    with ScriptedServer(error_response(wire, 429, "slow down", {"Retry-After": "7"})) as server:
        error = ask.expect_error(wire, server)
    assert (error.kind, error.retry_after) == ("rate_limit", 7)
    assert str(error) == f"{wire.model} returned HTTP 429: 'slow down'"
    assert len(server.requests) == 1


def test_google_retry_delay_is_read_from_the_body(ask: AskProvider):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}]
    inner = {"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": details}
    with ScriptedServer(json_response({"error": inner}, status=429)) as server:
        error = ask.expect_error(GOOGLE, server)
    assert (error.kind, error.retry_after) == ("rate_limit", 34.5)


@every
@pytest.mark.parametrize("status", [500, 503, 529])
def test_overloaded_provider_is_asked_once(ask: AskProvider, wire: Wire, status: int):
    with ScriptedServer(error_response(wire, status, "overloaded")) as server:
        error = ask.expect_error(wire, server)
    assert (error.kind, error.transient) == ("overloaded", True)
    assert len(server.requests) == 1


def _printable(error: BaseException | None) -> str:
    text = ""
    while error is not None:
        formatted = "".join(traceback.format_exception(error))
        text += f"{error} {error!r} {error.args} {vars(error)} {formatted}"
        error = error.__context__
    return text


@every
@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_key_in_an_error_body_is_redacted(ask: AskProvider, wire: Wire, status: int):
    with ScriptedServer(
        error_response(wire, status, f"bad key {KEY}, {KEY[:9]}...{KEY[-7:]}")
    ) as server:
        error = ask.expect_error(wire, server)
    text = _printable(error)
    assert not [piece for at in range(len(KEY) - 5) if (piece := KEY[at : at + 6]) in text]
    assert len(server.requests) == 1


@every
def test_denied_key_is_named_by_its_variable(ask: AskProvider, wire: Wire):
    with ScriptedServer(error_response(wire, 401)) as server:
        error = ask.expect_error(wire, server)
    assert str(error) == f"{wire.model} refused the key in {wire.key} (HTTP 401)"
    assert (error.kind, error.transient) == ("denied", False)


def test_google_wrong_key_is_denied(ask: AskProvider):
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    inner = {"code": 400, "message": "x", "status": "INVALID_ARGUMENT", "details": details}
    with ScriptedServer(json_response({"error": inner}, status=400)) as server:
        error = ask.expect_error(GOOGLE, server)
    assert error.kind == "denied"


def test_anthropic_exhausted_balance_is_denied(ask: AskProvider):
    inner = {"type": "invalid_request_error", "message": "Your credit balance is too low"}
    with ScriptedServer(json_response({"type": "error", "error": inner}, status=400)) as server:
        error = ask.expect_error(ANTHROPIC, server)
    assert error.kind == "denied"


def test_prompt_that_is_too_long_is_reported(ask: AskProvider):
    inner = {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}
    with ScriptedServer(json_response({"type": "error", "error": inner}, status=400)) as server:
        error = ask.expect_error(ANTHROPIC, server)
    assert error.kind == "rejected"
    assert str(error).startswith(f"the prompt is too long for {ANTHROPIC.model}: ")


@every
def test_unknown_model_is_rejected(ask: AskProvider, wire: Wire):
    with ScriptedServer(error_response(wire, 404, "no such model")) as server:
        error = ask.expect_error(wire, server)
    assert (error.kind, error.transient) == ("rejected", False)
    assert "no such model" in str(error)


@every
@pytest.mark.parametrize("body", [b"{oops", b"[]", b'"yes"', b'{"content": 7}', b""])
def test_invalid_reply_is_malformed(ask: AskProvider, wire: Wire, body: bytes):
    with ScriptedServer(
        ServerResponse(headers={"Content-Type": "application/json"}, body=body)
    ) as server:
        error = ask.expect_error(wire, server)
    assert (error.kind, error.transient) == ("malformed", True)
    assert len(server.requests) == 1


@every
def test_interrupted_reply_is_disconnected(ask: AskProvider, wire: Wire):
    good = json_response(wire.good)
    with ScriptedServer(
        ServerResponse(headers=good.headers, body=good.body, truncated=20)
    ) as server:
        error = ask.expect_error(wire, server)
    # The client for Bedrock does not see that something is missing, only that it makes no sense.
    assert error.kind == ("malformed" if wire is BEDROCK else "disconnected")
    assert error.transient
    assert len(server.requests) == 1
    assert KEY not in _printable(error)


@every
def test_unreachable_server_is_disconnected(ask: AskProvider, wire: Wire):
    with ScriptedServer(ServerResponse()) as server:
        pass
    ask.monkeypatch.setenv(wire.address, "http://127.0.0.1:9")
    with pytest.raises(ProviderError, match="cannot be reached") as caught:
        asyncio.run(_ask(JudgeSettings(model=wire.model, deadline=5.0), request()))
    assert caught.value.kind == "disconnected"
    assert server.requests == []


@every
def test_redirect_is_not_followed(ask: AskProvider, wire: Wire):
    with ScriptedServer(json_response(wire.good)) as target:
        redirect = ServerResponse(status=307, headers={"Location": f"{target.url}{wire.path}"})
        with ScriptedServer(redirect) as server:
            error = ask.expect_error(wire, server)
        assert target.requests == []
    assert error.kind == "rejected"
    assert str(error).startswith(
        f"{wire.model} returned a redirect (HTTP 307), which is not followed"
    )


@every
def test_request_can_be_cancelled(wire: Wire, monkeypatch: pytest.MonkeyPatch):
    async def impatient() -> None:
        model = open_model(JudgeSettings(model=wire.model, deadline=1.0))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(model.reply(request()), 0.5)
        await model.close()

    with ScriptedServer(ServerResponse(delay=3600)) as server:
        monkeypatch.setenv(wire.address, server.url)
        asyncio.run(impatient())
        assert server.closed()


@every
def test_loopback_requests_bypass_the_proxy(ask: AskProvider, wire: Wire):
    with (
        ScriptedServer(ServerResponse(status=502)) as proxy,
        ScriptedServer(json_response(wire.good)) as server,
    ):
        ask.monkeypatch.setenv("http_proxy", proxy.url)
        ask.monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert ask(wire, server).text == TEXT
    assert proxy.requests == []


def test_rate_limits_are_reported(ask: AskProvider):
    headers = {
        "anthropic-ratelimit-requests-limit": "50",
        "anthropic-ratelimit-requests-remaining": "49",
        "anthropic-ratelimit-requests-reset": "2020-01-01T00:00:00Z",
        "anthropic-ratelimit-tokens-remaining": "8000",
    }
    with ScriptedServer(json_response(ANTHROPIC.good, headers=headers)) as server:
        reply = ask(ANTHROPIC, server)
    assert reply.rate_limit == RateLimit(requests=49, tokens=8000, reset=0.0)


def test_rate_limits_of_concurrent_calls_are_separate(monkeypatch: pytest.MonkeyPatch):
    async def both(server: ScriptedServer) -> list[JudgeReply]:
        monkeypatch.setenv(ANTHROPIC.address, server.url)
        model = open_model(JudgeSettings(model=ANTHROPIC.model))
        replies = await asyncio.gather(*[model.reply(request(max_tokens=n)) for n in (3, 9)])
        await model.close()
        return replies

    def script(received: Any) -> ServerResponse:
        headers = {"anthropic-ratelimit-requests-remaining": str(received.json["max_tokens"])}
        return json_response(ANTHROPIC.good, headers=headers)

    with ScriptedServer(script) as server:
        replies = asyncio.run(both(server))
    assert [reply.rate_limit and reply.rate_limit.requests for reply in replies] == [3, 9]


def test_model_not_served_by_bedrock_is_an_error_before_anything_runs():
    with pytest.raises(UsageError) as caught:
        open_model(JudgeSettings(model="bedrock:openai.gpt-5.1"))
    assert caught.value.where == "bedrock:openai.gpt-5.1"
    assert caught.value.message == (
        "Model 'openai.gpt-5.1' is not served by the Bedrock Converse API"
    )


def test_unsupported_request_is_a_rejection(ask: AskProvider):
    many = {f"field_{number}": {"type": "string"} for number in range(40)}
    schema = {"type": "object", "properties": many, "additionalProperties": False}
    with (
        ScriptedServer(json_response(ANTHROPIC.good)) as server,
        pytest.raises(ProviderError) as caught,
    ):
        ask(ANTHROPIC, server, request(schema=schema))
    assert server.requests == []
    assert (caught.value.kind, caught.value.transient) == ("rejected", False)
    assert str(caught.value).startswith(f"{ANTHROPIC.model} does not support this request: ")
