from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from carob.judges.model import JudgeMessage, JudgeReply, JudgeRequest, ProviderError
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings
from tests.judges.scripted import Answer, Asked, Scripted, says

Body = dict[str, Any]
GOOD: Body = {"choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}]}
SCHEMA: Body = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def request(**fields: Any) -> JudgeRequest:
    given: Body = {
        "messages": (JudgeMessage(role="user", text="Is it right?"),),
        "schema": SCHEMA,
        "max_tokens": 50,
        "temperature": 0.0,
    }
    return JudgeRequest(**given | fields)


async def _replies(
    server: Scripted, requests: list[JudgeRequest], *, together: bool
) -> list[JudgeReply]:
    model = open_model(JudgeSettings(model="openai:judge", url=server.url))
    try:
        if together:
            return await asyncio.gather(*[model.reply(one) for one in requests])
        return [await model.reply(one) for one in requests]
    finally:
        await model.close()


def bodies(
    picky: Callable[[Body], Answer | None], *requests: JudgeRequest, together: bool = False
) -> list[Body]:
    """What was sent to an endpoint that answers what it takes, until it did."""

    def script(asked: Asked) -> Answer:
        return picky(asked.json) or says(GOOD)

    with Scripted(script) as server:
        asyncio.run(_replies(server, [*requests] or [request()], together=together))
    return [asked.json for asked in server.asked]


def refuses(message: str, *, status: int = 400, **fields: Any) -> Answer:
    return says({"error": {"message": message} | fields}, status=status)


def _form(body: Body) -> str:
    return body.get("response_format", {}).get("type", "text")


def test_a_schema_that_is_not_taken_becomes_an_object_and_then_words():
    def picky(body: Body) -> Answer | None:
        if _form(body) == "json_schema":
            return refuses("Invalid value", param="response_format.type")
        if _form(body) == "json_object":
            return refuses("This response_format type is unavailable now")
        return None

    sent = bodies(picky, request(), request())
    assert [_form(one) for one in sent] == ["json_schema", "json_object", "text", "text"]
    schema, by_object, by_words, again = sent
    assert schema["messages"] == [{"role": "user", "content": "Is it right?"}]
    first, second = by_object["messages"]
    assert first["role"] == "system"
    assert '"additionalProperties":false' in first["content"]
    assert "JSON" in first["content"]
    assert second == {"role": "user", "content": "Is it right?"}
    assert by_words["messages"] == again["messages"] == by_object["messages"]


def test_the_schema_in_words_follows_the_system_message_that_is_there():
    def picky(body: Body) -> Answer | None:
        return refuses("json_schema is not supported") if _form(body) == "json_schema" else None

    messages = (
        JudgeMessage(role="system", text="Judge."),
        JudgeMessage(role="user", text="Right?"),
    )
    _, sent = bodies(picky, request(messages=messages))
    assert [one["role"] for one in sent["messages"]] == ["system", "user"]
    assert sent["messages"][0]["content"].startswith("Judge.\n\nAnswer with one JSON object")


def test_token_limit_falls_back_to_max_completion_tokens():
    def picky(body: Body) -> Answer | None:
        told = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        return refuses(told, param="max_tokens") if "max_tokens" in body else None

    first, second, third = bodies(picky, request(), request())
    assert first["max_tokens"] == 50
    assert second["max_completion_tokens"] == third["max_completion_tokens"] == 50
    assert "max_tokens" not in second


def test_rejected_temperature_is_left_out():
    def picky(body: Body) -> Answer | None:
        told = "Temperature: only the default (1) value is supported."
        return refuses(told) if "temperature" in body else None

    first, second, third = bodies(picky, request(), request())
    assert first["temperature"] == 0
    assert "temperature" not in second
    assert "temperature" not in third


def test_fewer_alternatives_are_asked_for_where_many_are_too_many():
    def picky(body: Body) -> Answer | None:
        many = body.get("top_logprobs", 0) > 5
        return refuses("must be less than 6", param="top_logprobs") if many else None

    sent = bodies(picky, request(probabilities=True), request(probabilities=True))
    assert [one["top_logprobs"] for one in sent] == [20, 5, 5]


@pytest.mark.parametrize("param", ["logprobs", None])
def test_probabilities_that_are_not_given_are_not_asked_for_again(param: str | None):
    def picky(body: Body) -> Answer | None:
        told = "You are not allowed to request logprobs from this model"
        return refuses(told, status=403, param=param) if "logprobs" in body else None

    sent = bodies(picky, request(probabilities=True), request(probabilities=True))
    assert ["logprobs" in one for one in sent] == [True, False, False]


def test_several_rejected_parameters_are_learned():
    def picky(body: Body) -> Answer | None:
        if "temperature" in body:
            return refuses("not supported", param="temperature")
        if "max_tokens" in body:
            return refuses("use max_completion_tokens", param="max_tokens")
        return None

    sent = bodies(picky, request())
    assert len(sent) == 3
    assert "max_completion_tokens" in sent[-1]


def test_concurrent_calls_keep_learned_capabilities():
    def picky(body: Body) -> Answer | None:
        if "temperature" in body:
            return refuses("not supported", param="temperature")
        return refuses("not supported", param="response_format") if _form(body) != "text" else None

    sent = bodies(picky, *[request()] * 8, request(), together=True)
    assert len(sent) <= 9 * 4
    assert sum("temperature" not in one and _form(one) == "text" for one in sent) == 9


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
def test_other_errors_are_raised_at_once(answer: Answer):
    with Scripted(answer) as server, pytest.raises(ProviderError):
        asyncio.run(_replies(server, [request()], together=False))
    assert len(server.asked) == 1


def test_endpoint_that_rejects_everything_is_given_up():
    told = "temperature, response_format, logprobs, max_completion_tokens: max_tokens unsupported"
    with Scripted(refuses(told)) as server, pytest.raises(ProviderError):
        asyncio.run(_replies(server, [request(probabilities=True)], together=False))
    assert len(server.asked) == 6
