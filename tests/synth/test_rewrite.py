from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import carob
from carob.api.synth_model import synth_with_model
from carob.errors import UsageError
from carob.schema import Dataset
from tests.judges.scripted_server import (
    ReceivedRequest,
    ScriptedServer,
    ServerResponse,
    json_response,
)
from tests.synth.shop import FERN


def reply(**content: object) -> ServerResponse:
    message = {"role": "assistant", "content": json.dumps(content)}
    return json_response({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {}})


def model(message: str, *votes: bool) -> Callable[[ReceivedRequest], ServerResponse]:
    left = list(votes)

    def answer(request: ReceivedRequest) -> ServerResponse:
        if "<first>" in request.json["messages"][-1]["content"]:
            return reply(agree=left.pop(0))
        return reply(message=message)

    return answer


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    carob.save(Dataset(name="garden", cases=[FERN]), "golden.json", format="adk")


def ask(monkeypatch: pytest.MonkeyPatch, message: str, *votes: bool, style: str = "paraphrase"):
    with ScriptedServer(model(message, *votes)) as server:
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        synth_with_model("golden.json", "new.json", model="vllm:writer", styles=style)
    return carob.load("new.json").cases[0]


def test_a_rewriting_that_enough_samples_agree_with_is_kept(monkeypatch: pytest.MonkeyPatch):
    case = ask(monkeypatch, "Any news of GS-1041?", True, False, True)
    assert case.turns[0].user == "Any news of GS-1041?"
    assert case.turns[0].tool_calls == FERN.turns[0].tool_calls
    assert case.metadata["relation"] == "paraphrase"
    assert str(case.metadata["model"]).endswith("writer")


def test_a_rewriting_that_too_few_samples_agree_with_is_dropped(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UsageError, match="nothing was generated: 1 samples disagree"):
        ask(monkeypatch, "Any news of GS-1041?", True, False, False)


def test_a_rewriting_that_loses_a_value_is_dropped(monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(UsageError, match="nothing was generated: 1 a value is missing"):
        ask(monkeypatch, "Any news of my order?", True, True, True)


def test_a_translation_expects_no_answer(monkeypatch: pytest.MonkeyPatch):
    case = ask(monkeypatch, "Wo ist GS-1041?", True, True, True, style="translation: German")
    assert case.turns[0].response is None
    assert case.turns[0].tool_calls == FERN.turns[0].tool_calls
