"""Agents of frameworks as objects, in the process of Carob."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.targets.environment import run_script


@pytest.fixture(scope="module")
def adk() -> dict[str, Any]:
    return json.loads(run_script("adk_in_process.py").splitlines()[-1])


@pytest.mark.parametrize("form", ["agent", "app"])
def test_adk_object_is_asked_with_the_initial_state(adk: dict[str, Any], form: str):
    assert adk[form] == {
        "status": "passed",
        "scores": {
            "response_match_score": 1.0,
            "state_management_fidelity": 1.0,
            "tool_trajectory_avg_score": 1.0,
        },
        "reason": adk[form]["reason"],
    }


def test_exception_of_an_adk_agent_is_an_error(adk: dict[str, Any]):
    assert adk["broken"]["status"] == "error"
    assert adk["broken"]["reason"].startswith("agent: RuntimeError: the model broke")


def test_adk_tools_are_mocked(adk: dict[str, Any]):
    assert adk["mocked"]["scores"]["response_match_score"] == 1.0


def test_adk_call_without_a_recorded_result_is_an_error(adk: dict[str, Any]):
    assert adk["missed"]["status"] == "error"
    assert adk["missed"]["reason"].startswith("mock: no recorded result for get_order")


@pytest.fixture(scope="module")
def mocked() -> dict[str, Any]:
    return json.loads(run_script("framework_mocks.py").splitlines()[-1])


@pytest.mark.parametrize("framework", ["openai", "langchain", "pydantic-ai"])
def test_tools_of_a_framework_are_mocked(mocked: dict[str, Any], framework: str):
    status, reason, ran = mocked[framework]["known"]
    assert (status, ran) == ("passed", []), reason
    status, reason, ran = mocked[framework]["unknown"]
    assert (status, ran) == ("error", [])
    assert reason == 'mock: no recorded result for get_order({"order_id":"99"})'
