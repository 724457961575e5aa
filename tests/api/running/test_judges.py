from __future__ import annotations

import asyncio
import json
from collections.abc import Generator
from pathlib import Path

import pytest
from msgspec.structs import replace

import carob
from carob.api.metrics import build_metric
from carob.api.running.judges import judge_pool
from carob.config import MetricChoice
from carob.errors import CarobError, UsageError
from carob.schema import Dataset, Json, JudgeSettings, Run, Trace, Turn
from tests.judges.scripted_server import ScriptedServer, json_response

CASE = carob.Case.of("When are you open?", "From 10:00 to 16:00.")


@pytest.fixture
def judge(monkeypatch: pytest.MonkeyPatch) -> Generator[ScriptedServer]:
    """A judge that finds everything good, where OpenAI would be."""
    text = json.dumps({"thoughtChain": "", "explanation": "Good.", "score": 5})
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    with ScriptedServer(json_response({"choices": [choice]})) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
        yield server


def test_one_answer_is_judged_from_plain_python(judge: ScriptedServer):
    scores = carob.score(CASE, "At ten.", metrics=["Helpfulness"], judge="openai:gpt-5-mini")
    assert scores["Helpfulness"] == 5.0
    assert judge.closed()


def test_one_answer_is_judged_from_within_a_loop(judge: ScriptedServer):
    async def test() -> float:
        verdict = carob.check(CASE, "At ten.", metrics=["Helpfulness"], judge="openai:gpt-5-mini")
        return verdict["Helpfulness"]

    assert asyncio.run(test()) == 5.0
    assert len(judge.requests) == 1


def test_run_is_judged_from_within_a_loop(judge: ScriptedServer, tmp_path: Path):
    answer = Trace(id="a", turns=(Turn(user="When do you open?", response="At ten."),))
    golden = Dataset(name="hours", cases=(replace(CASE, recorded=answer),))
    answers = str(tmp_path / "answers.db")

    async def cell() -> Run:
        return carob.run(
            golden=golden, metrics=["Helpfulness"], judge="openai:gpt-5-mini", answers=answers
        )

    first, second = asyncio.run(cell()), asyncio.run(cell())
    assert first.cases[0].scores[0].value == second.cases[0].scores[0].value == 5.0
    assert len(judge.requests) == 1  # the second run finds the answer in the store


def test_judge_that_is_named_without_a_model_is_an_error():
    with pytest.raises(UsageError, match="no judge is configured for Helpfulness") as caught:
        carob.check(CASE, "At ten.", metrics=["Helpfulness", "latency"])
    assert "--judge PROVIDER:MODEL, or as `judge` in carob.toml" in str(caught.value.hint)


def test_metrics_of_one_model_share_a_client(judge: ScriptedServer):
    panel = judge_pool("openai:gpt-5-mini", None)
    first, second = (build_metric(MetricChoice(name=name)) for name in ("Helpfulness", "Empathy"))
    assert panel.client_for(first) is panel.client_for(second)


def test_metric_may_have_its_own_model_unless_overridden(judge: ScriptedServer):
    metric = build_metric(MetricChoice(name="Empathy", params={"model": "openai:gpt-5"}))
    by_file = judge_pool(JudgeSettings(model="openai:gpt-5-mini"), None).client_for(metric)
    by_flag = judge_pool("openai:gpt-5-mini", None).client_for(metric)
    assert by_file is not None
    assert by_flag is not None
    assert (by_file.model, by_flag.model) == ("openai:gpt-5", "openai:gpt-5-mini")


def test_offline_metrics_need_no_client():
    panel = judge_pool("nonsense", None)
    assert panel.client_for(build_metric(MetricChoice(name="exact_match"))) is None
    with pytest.raises(UsageError, match="has no provider"):
        panel.client_for(build_metric(MetricChoice(name="Empathy")))


RUBRIC = """
question = "Is the response tactful?"
scale = "yes/no"
inputs = ["response"]
"""


def test_user_rubric_is_a_metric(tmp_path: Path):
    path = tmp_path / "tact.toml"
    path.write_text(RUBRIC, "utf-8")
    assert build_metric(MetricChoice(name=str(path))).name == "tact"
    assert build_metric(MetricChoice(name="kindness", rubric=str(path))).name == "kindness"


def test_rubric_cannot_take_the_name_of_another_metric(tmp_path: Path):
    path = tmp_path / "relevance.toml"
    path.write_text(RUBRIC, "utf-8")
    with pytest.raises(UsageError, match="metric 'relevance' already exists"):
        build_metric(MetricChoice(name=str(path)))


def test_eval_is_found_by_the_name_used_in_rows():
    assert build_metric(MetricChoice(name="RelevanceExplain")).name == "Relevance"


def refused(choice: MetricChoice) -> CarobError:
    with pytest.raises(CarobError) as caught:
        build_metric(choice)
    return caught.value


def test_mistake_in_a_config_is_located():
    error = refused(MetricChoice(name="cosst", source="test_config.json"))
    assert str(error) == "test_config.json: unknown metric 'cosst'"
    managed: dict[str, Json] = {"is_managed": True, "managed_metric_name": "SAFTY"}
    error = refused(MetricChoice(name="safe", definition=managed, source="defs.json"))
    assert error.where == "defs.json, metrics.safe.managed_metric_name"
