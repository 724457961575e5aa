"""Evaluators that configurations of other tools name, from the command line on."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from carob.cli import carob
from carob.errors import CarobError, UntrustedError
from carob.evaluators.documents import adk_input
from carob.evaluators.launch import HOSTS
from carob.schema import AgentMessage, Case, ToolCall, ToolResult, Trace, Turn

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src" / "carob" / "demo" / "data"
PEERS = ROOT / ".peers" / "bin" / "python"
CONFIG = """
evaluators:
  - {name: friendly, type: code, path: ./friendly.py, threshold: 0.9}
  - {name: tool_trajectory_avg_score, type: builtin, threshold: 0.5}
eval_set: support.evalset.json
"""
FRIENDLY = """
from agentevals_evaluator_sdk import EvalInput, EvalResult, evaluator

@evaluator
def friendly(input: EvalInput) -> EvalResult:
    assert input.threshold == 0.9
    return EvalResult(score=1.0 if all(i.final_response for i in input.invocations) else 0.0)

if __name__ == "__main__":
    friendly.run()
"""
ADK_METRIC = """
from google.adk.evaluation.evaluator import EvalStatus, EvaluationResult

async def tone(eval_metric, actual_invocations, expected_invocations, conversation_scenario):
    (actual,), (expected,) = actual_invocations, expected_invocations
    assert actual.intermediate_data.tool_uses[0].args == {"item": "hose"}
    assert expected.final_response.parts[0].text == "The hose costs 19 euros."
    score = float("please" in actual.final_response.parts[0].text)
    return EvaluationResult(overall_score=score, overall_eval_status=EvalStatus.PASSED)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(DATA, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path.parent / "state"))
    monkeypatch.delenv("CAROB_TRUST", raising=False)
    return tmp_path


def run(config: str) -> dict[str, Any]:
    arguments = ["run", "traces/good.otlp.jsonl", "--golden", "support.evalset.json"]
    arguments += ["--config", config, "--no-store", "--format", "json"]
    result = CliRunner().invoke(carob, arguments)
    if isinstance(result.exception, CarobError):
        raise result.exception
    return json.loads(result.stdout)


def test_agentevals_config_runs_its_code_after_trust(folder: Path):
    (folder / "eval_config.yaml").write_text(CONFIG, "utf-8")
    (folder / "friendly.py").write_text(FRIENDLY, "utf-8")
    with pytest.raises(UntrustedError, match=r"evaluators\[0\]\.path = \./friendly\.py"):
        run("eval_config.yaml")
    assert CliRunner().invoke(carob, ["trust", "eval_config.yaml", "--yes"]).exit_code == 0
    document = run("eval_config.yaml")
    assert document["verdict"] == "passed"
    friendly, trajectory = document["metrics"]
    assert (friendly["name"], friendly["threshold"]) == ("friendly", 0.9)
    assert trajectory["name"] == "tool_trajectory_avg_score"
    (folder / "friendly.py").write_text("open('owned', 'w')", "utf-8")
    with pytest.raises(UntrustedError):
        run("eval_config.yaml")
    assert not (folder / "owned").exists()


def test_adk_config_names_its_function_before_trust(folder: Path):
    (folder / "shop_metrics.py").write_text(ADK_METRIC, "utf-8")
    config = {
        "criteria": {"tone": 0.5},
        "custom_metrics": {"tone": {"code_config": {"name": "shop_metrics.tone"}}},
    }
    (folder / "test_config.json").write_text(json.dumps(config), "utf-8")
    with pytest.raises(UntrustedError, match=r"code_config\.name = shop_metrics\.py"):
        run("test_config.json")


@pytest.mark.skipif(not PEERS.exists(), reason="ADK is not installed: make peers")
def test_adk_function_receives_real_invocations(tmp_path: Path):
    (tmp_path / "shop_metrics.py").write_text(ADK_METRIC, "utf-8")
    turn = Turn(
        user="Price of the hose?",
        response="19 euros, please.",
        tool_calls=(ToolCall(name="find_price", args={"item": "hose"}, id="c1"),),
        tool_results=(ToolResult(name="find_price", id="c1", result=19),),
        messages=(AgentMessage("shop", "One moment."),),
    )
    case = Case.of("Price of the hose?", "The hose costs 19 euros.", id="hose")
    document = adk_input("tone", None, case, Trace(id="t", turns=(turn,)))
    result = subprocess.run(
        [str(PEERS), str(HOSTS / "host.py"), "adk", "shop_metrics", "tone"],
        input=msgspec.json.encode(document) + b"\n",
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    answer = json.loads(result.stdout)
    assert answer == {"score": 1.0, "status": "PASSED", "per_invocation_scores": []}
