from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from carob.judges.model import JudgeMessage, JudgeReply, JudgeRequest, ProviderError
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings
from tests.judges.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerResponse,
    json_response,
)

Body = dict[str, Any]
GOOD: Body = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
SCHEMA: Body = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def request(**fields: Any) -> JudgeRequest:
    defaults: Body = {
        "messages": (JudgeMessage(role="user", text="Is it right?"),),
        "schema": SCHEMA,
        "max_tokens": 50,
        "temperature": 0.0,
    }
    return JudgeRequest(**defaults | fields)


async def _ask_all(
    server: ScriptedServer, requests: list[JudgeRequest], *, concurrent: bool
) -> list[JudgeReply]:
    model = open_model(JudgeSettings(model="openai:judge", url=server.url))
    try:
        if concurrent:
            return await asyncio.gather(*[model.reply(request) for request in requests])
        return [await model.reply(request) for request in requests]
    finally:
        await model.close()


def bodies(
    picky: Callable[[Body], ServerResponse | None],
    *requests: JudgeRequest,
    concurrent: bool = False,
) -> list[Body]:
    """The bodies sent to a server that rejects requests until `picky` accepts one."""

    def script(received: ReceivedRequest) -> ServerResponse:
        return picky(received.json) or json_response(GOOD)

    with ScriptedServer(script) as server:
        asyncio.run(_ask_all(server, [*requests] or [request()], concurrent=concurrent))
    return [received.json for received in server.requests]


def refuses(message: str, *, status: int = 400, **fields: Any) -> ServerResponse:
    return json_response({"error": {"message": message} | fields}, status=status)


def _form(body: Body) -> str:
    return body.get("response_format", {}).get("type", "text")


def test_rejected_schema_falls_back_to_json_object_and_then_text():
    def picky(body: Body) -> ServerResponse | None:
        if _form(body) == "json_schema":
            return refuses("Invalid value", param="response_format.type")
        if _form(body) == "json_object":
            return refuses("This response_format type is unavailable now")
        return None

    sent_bodies = bodies(picky, request(), request())
    assert [_form(body) for body in sent_bodies] == ["json_schema", "json_object", "text", "text"]
    schema, by_object, by_words, again = sent_bodies
    assert schema["messages"] == [{"role": "user", "content": "Is it right?"}]
    first, second = by_object["messages"]
    assert first["role"] == "system"
    assert '"additionalProperties":false' in first["content"]
    assert "JSON" in first["content"]
    assert second == {"role": "user", "content": "Is it right?"}
    assert by_words["messages"] == again["messages"] == by_object["messages"]


def test_schema_as_text_is_appended_to_the_system_message():
    def picky(body: Body) -> ServerResponse | None:
        return refuses("json_schema is not supported") if _form(body) == "json_schema" else None

    messages = (
        JudgeMessage(role="system", text="Judge."),
        JudgeMessage(role="user", text="Right?"),
    )
    _, sent_bodies = bodies(picky, request(messages=messages))
    assert [message["role"] for message in sent_bodies["messages"]] == ["system", "user"]
    assert sent_bodies["messages"][0]["content"].startswith("Judge.\n\nAnswer with one JSON object")


def test_token_limit_falls_back_to_max_completion_tokens():
    def picky(body: Body) -> ServerResponse | None:
        message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return refuses(message, param="max_tokens") if "max_tokens" in body else None

    first, second, third = bodies(picky, request(), request())
    assert first["max_tokens"] == 50
    assert second["max_completion_tokens"] == third["max_completion_tokens"] == 50
    assert "max_tokens" not in second


def test_rejected_temperature_is_left_out():
    def picky(body: Body) -> ServerResponse | None:
        message = "Temperature: only the default (1) value is supported."
        return refuses(message) if "temperature" in body else None

    first, second, third = bodies(picky, request(), request())
    assert first["temperature"] == 0
    assert "temperature" not in second
    assert "temperature" not in third


def test_fewer_alternatives_are_requested_after_a_rejection():
    def picky(body: Body) -> ServerResponse | None:
        many = body.get("top_logprobs", 0) > 5
        return refuses("must be less than 6", param="top_logprobs") if many else None

    sent_bodies = bodies(picky, request(probabilities=True), request(probabilities=True))
    assert [body["top_logprobs"] for body in sent_bodies] == [20, 5, 5]


@pytest.mark.parametrize("param", ["logprobs", None])
def test_rejected_probabilities_are_not_requested_again(param: str | None):
    def picky(body: Body) -> ServerResponse | None:
        message = "You are not allowed to request logprobs from this model"
        return refuses(message, status=403, param=param) if "logprobs" in body else None

    sent_bodies = bodies(picky, request(probabilities=True), request(probabilities=True))
    assert ["logprobs" in body for body in sent_bodies] == [True, False, False]


def test_several_rejected_parameters_are_learned():
    def picky(body: Body) -> ServerResponse | None:
        if "temperature" in body:
            return refuses("not supported", param="temperature")
        if "max_tokens" in body:
            return refuses("use max_completion_tokens", param="max_tokens")
        return None

    sent_bodies = bodies(picky, request())
    assert len(sent_bodies) == 3
    assert "max_completion_tokens" in sent_bodies[-1]


def test_concurrent_calls_keep_learned_capabilities():
    def picky(body: Body) -> ServerResponse | None:
        if "temperature" in body:
            return refuses("not supported", param="temperature")
        return refuses("not supported", param="response_format") if _form(body) != "text" else None

    sent_bodies = bodies(picky, *[request()] * 8, request(), concurrent=True)
    assert len(sent_bodies) <= 9 * 4
    assert sum("temperature" not in body and _form(body) == "text" for body in sent_bodies) == 9


@pytest.mark.parametrize(
    "answer",
    [
        refuses("The temperature of the prompt is too hot for us"),
        refuses("not supported", param="messages"),
        refuses("max_tokens must be at most 16", param="max_tokens"),
        refuses("temperature is not supported", status=500),
    ],
    ids=["no word of refusal", "another parameter", "a limit, not a name", "not about the request"],
)
def test_other_errors_are_raised_at_once(answer: ServerResponse):
    with ScriptedServer(answer) as server, pytest.raises(ProviderError):
        asyncio.run(_ask_all(server, [request()], concurrent=False))
    assert len(server.requests) == 1


def test_endpoint_that_rejects_everything_is_given_up():
    message = (
        "temperature, response_format, logprobs, max_completion_tokens: max_tokens unsupported"
    )
    with ScriptedServer(refuses(message)) as server, pytest.raises(ProviderError):
        asyncio.run(_ask_all(server, [request(probabilities=True)], concurrent=False))
    assert len(server.requests) == 6
