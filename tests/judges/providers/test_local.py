"""A real model behind llama.cpp. It is too small for meaningful verdicts; the tests only check that
requests reach it and replies come back."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from carob.judges.client.probabilities import word_probabilities
from carob.judges.model import JudgeMessage, JudgeReply, JudgeRequest, ProviderError
from carob.judges.providers.local import LocalModel, limit_texts
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["correct", "wrong"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}

PROSE: dict[str, Any] = {
    "type": "object",
    "properties": {"reason": {"type": "string", "minLength": 900}},
    "required": ["reason"],
    "additionalProperties": False,
}


def request(text: str = "Is the sky green? Say yes or no.", **fields: Any) -> JudgeRequest:
    defaults: dict[str, Any] = {
        "messages": (JudgeMessage(role="user", text=text),),
        "schema": SCHEMA,
        "max_tokens": 40,
        "temperature": 0.0,
    }
    return JudgeRequest(**defaults | fields)


class SharedModel:
    """One model for all tests, in one event loop."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self.runner = runner
        model = open_model(JudgeSettings(model="local:smollm2"))
        assert isinstance(model, LocalModel)
        self.model = model

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        return self.runner.run(self.model.reply(request))


@pytest.fixture(scope="module")
def ask() -> Iterator[SharedModel]:
    with asyncio.Runner() as runner:
        asker = SharedModel(runner)
        yield asker
        runner.run(asker.model.close())


def test_model_has_the_configured_name(ask: SharedModel):
    assert ask.model.name == "local:smollm2"
    assert ask.model.prefers_words


def test_answer_matches_the_schema(ask: SharedModel):
    reply = ask(request())
    assert json.loads(reply.text)["verdict"] in ("correct", "wrong")
    assert not reply.truncated
    assert reply.input_tokens > 10
    assert reply.output_tokens > 3
    assert reply.tokens == ()


def test_reply_at_the_token_limit_is_truncated(ask: SharedModel):
    assert ask(request(max_tokens=2)).truncated


def test_tokens_come_with_their_probabilities(ask: SharedModel):
    reply = ask(request(probabilities=True))
    assert json.loads(reply.text)["verdict"] in "".join(token.text for token in reply.tokens)
    for token in reply.tokens:
        assert token.text in token.alternatives
        assert len(token.alternatives) > 10
        assert 0 < sum(token.alternatives.values()) <= 1.001


def test_word_answer_is_one_token_with_probabilities(ask: SharedModel):
    reply = ask(request(words=("yes", "no")))
    (token,) = reply.tokens
    shares = word_probabilities(token.alternatives, ("yes", "no"))
    assert sum(shares.values()) == pytest.approx(1)
    assert all(0 < share < 1 for share in shares.values())


def test_answer_is_independent_of_earlier_questions(ask: SharedModel):
    first = ask(request(words=("yes", "no")))
    ask(request("Is the sky green? Say yes or never.", words=("yes", "never")))
    assert ask(request(words=("yes", "no"))) == first


def test_concurrent_questions_get_the_same_answers(ask: SharedModel):
    async def ask_all() -> list[JudgeReply]:
        return await asyncio.gather(*[ask.model.reply(request) for request in requests])

    requests = [request(f"Is {n} more than 2? Say yes or no.", words=("yes", "no")) for n in (1, 3)]
    assert ask.runner.run(ask_all()) == [ask(request) for request in requests]


def test_prompt_that_is_too_long_is_reported(ask: SharedModel):
    with pytest.raises(ProviderError, match="the prompt is too long for local:smollm2") as caught:
        ask(request("word " * 9000))
    assert not caught.value.transient


def test_crashed_model_is_restarted_a_few_times():
    async def crash(model: LocalModel) -> None:
        assert model.pid is not None
        os.kill(model.pid, signal.SIGSEGV)
        await asyncio.sleep(0.5)

    async def life() -> tuple[JudgeReply, JudgeReply, ProviderError, ProviderError]:
        model = open_model(JudgeSettings(model="local:smollm2"))
        assert isinstance(model, LocalModel)
        word = request(words=("yes", "no"))
        first = await model.reply(word)
        await crash(model)
        second = await model.reply(word)
        prose = asyncio.create_task(model.reply(request(max_tokens=200, schema=PROSE)))
        await asyncio.sleep(0.3)
        await crash(model)
        with pytest.raises(ProviderError) as amid:
            await prose
        await model.reply(word)
        await crash(model)
        with pytest.raises(ProviderError) as last:
            await model.reply(word)
        await model.close()
        return first, second, amid.value, last.value

    first, second, amid, last = asyncio.run(life())
    assert first == second
    assert (amid.kind, amid.transient) == ("disconnected", True)
    assert str(last) == "local:smollm2 crashed 3 times and is not restarted"
    assert not last.transient


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_native_code_gets_no_keys(ask: SharedModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-hunter2")
    model = open_model(JudgeSettings(model="local:smollm2"))
    assert isinstance(model, LocalModel)
    ask.runner.run(model.reply(request()))
    environment = Path(f"/proc/{model.pid}/environ").read_bytes()
    ask.runner.run(model.close())
    assert b"PATH=" in environment
    assert b"hunter2" not in environment


def test_cancelled_request_does_not_stop_the_loading():
    async def impatient() -> JudgeReply:
        model = open_model(JudgeSettings(model="local:smollm2"))
        try:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(model.reply(request()), 0.01)
            return await model.reply(request(words=("yes", "no")))
        finally:
            await model.close()

    assert asyncio.run(impatient()).text


def test_model_can_be_closed_before_any_request_and_while_loading():
    async def hasty() -> int:
        model = open_model(JudgeSettings(model="local:smollm2"))
        assert isinstance(model, LocalModel)
        await model.close()
        task = asyncio.create_task(model.reply(request()))
        while (process := model.pid) is None:
            await asyncio.sleep(0.01)
        await model.close()
        with pytest.raises(asyncio.CancelledError):
            await task
        return process

    assert not _alive(asyncio.run(hasty()))


def test_broken_file_is_not_loaded_again(tmp_path: Path):
    async def broken() -> list[ProviderError]:
        model = open_model(JudgeSettings(model=f"local:{path}"))
        errors: list[ProviderError] = []
        for _ in range(2):
            with pytest.raises(ProviderError) as caught:
                await model.reply(request())
            errors.append(caught.value)
        await model.close()
        return errors

    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + bytes(1000))
    first, second = asyncio.run(broken())
    assert str(first).startswith(f"llama.cpp cannot load local:{path}: 'RuntimeError: ")
    assert (first.kind, first.transient) == ("rejected", False)
    assert str(second) == str(first)


def test_model_process_ends_with_the_run():
    program = """
import asyncio
from carob.judges.providers.open import open_model
from carob.schema import JudgeSettings
from tests.judges.providers.test_local import request

async def main():
    model = open_model(JudgeSettings(model="local:smollm2"))
    await model.reply(request(words=("yes", "no")))
    print(model.pid, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
    run = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert run.stdout is not None
    with run.stdout:
        child = int(run.stdout.readline())
    run.kill()
    run.wait()
    end = time.monotonic() + 20
    while _alive(child) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _alive(child)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].startswith(" Z")


TEXT: dict[str, Any] = {"type": "string"}
WORD: dict[str, Any] = {"type": "string", "enum": ["no", "yes"]}


def object_schema(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*fields]}


def test_free_texts_are_limited_and_words_are_not():
    limited: Any = limit_texts(
        object_schema(explanation=TEXT, verdict=WORD, score={"type": "integer"}), 1024
    )
    assert limited["properties"]["explanation"] == {"type": "string", "maxLength": 400}
    assert limited["properties"]["verdict"] == WORD
    assert limited["required"] == ["explanation", "verdict", "score"]


def test_many_texts_share_the_tokens():
    many = {
        f"property_{number}": object_schema(explanation=TEXT, verdict=WORD) for number in range(20)
    }
    limited: Any = limit_texts(object_schema(**many), 1024)
    assert limited["properties"]["property_7"]["properties"]["explanation"]["maxLength"] == 46


def test_limit_texts_does_not_change_its_argument():
    schema = object_schema(explanation=TEXT)
    limit_texts(schema, 10)
    assert schema == object_schema(explanation={"type": "string"})
