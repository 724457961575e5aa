"""The example of the guide to golden questions, and an agent that does all of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from carob.cli import carob

FIRST, SECOND = "Hi", "I have a billing question: where are my refund and my discount?"
GOLDEN: dict[str, Any] = {
    "golden_questions": [
        {
            "id": "q_billing_01",
            "user_inputs": [FIRST, SECOND],
            "agents_evaluated": ["customer_service"],
            "metadata": {"complexity": "high", "topic": "refund"},
            "reference_data": {
                "reference_tool_interactions": [
                    {
                        "tool_name": "access_cart_information",
                        "input_arguments": {"customer_id": "123"},
                    },
                    {"tool_name": "generate_qr_code", "input_arguments": {"discount_value": 10}},
                ],
                "reference_trajectory": ["GreetingAgent", "BillingSupportAgent", "PaymentTool"],
                "reference_state_variables": {
                    "customer_intent": "refund",
                    "refund_amount": 50.00,
                    "target_date": "2024-01-01",
                },
            },
        }
    ]
}
STATE = {"customer_intent": "refund", "refund_amount": 50.0, "target_date": "2024-01-01", "step": 7}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("access_cart_information", {"customer_id": "123"}),
    ("lookup_promotions", {"customer_id": "123"}),
    ("generate_qr_code", {"discount_value": 10}),
    ("PaymentTool", {"amount": 50.0}),
)
"""Those that the case demands, one that helps, and the last step of the trajectory."""


def event(turn: int, author: str, **part: Any) -> dict[str, Any]:
    return {"author": author, "invocation_id": f"e{turn}", "content": {"parts": [part]}}


def call(turn: int, author: str, name: str, args: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        event(turn, author, function_call={"name": name, "args": args, "id": name}),
        event(turn, author, function_response={"name": name, "response": {}, "id": name}),
    ]


def session(*, without: str = "") -> dict[str, Any]:
    calls = [item for item in CALLS if item[0] != without]
    events = [
        event(1, "user", text=FIRST),
        *call(1, "customer_service", "transfer_to_agent", {"agent_name": "GreetingAgent"}),
        event(1, "GreetingAgent", text="Hello! How can I help?"),
        event(2, "user", text=SECOND),
        *call(2, "customer_service", "transfer_to_agent", {"agent_name": "BillingSupportAgent"}),
        *(item for name, args in calls for item in call(2, "BillingSupportAgent", name, args)),
        event(2, "BillingSupportAgent", text="50.00 are on their way, and here is your QR code."),
    ]
    return {"id": "s-1", "app_name": "customer_service", "state": STATE, "events": events}


def run(
    tmp_path: Path, trace: dict[str, Any], *options: str, golden: dict[str, Any] = GOLDEN
) -> Result:
    questions, traces = tmp_path / "customer_service_golden.json", tmp_path / "session.json"
    questions.write_text(json.dumps(golden))
    traces.write_text(json.dumps(trace))
    return CliRunner().invoke(carob, ["run", str(traces), "--golden", str(questions), *options])


def test_agent_that_does_all_of_it_passes(tmp_path: Path):
    result = run(tmp_path, session(), "--format", "json")
    assert result.exit_code == 0
    (case,) = json.loads(result.stdout)["cases"]
    assert {score["metric"]: score["value"] for score in case["scores"]} == {
        "tool_usage_accuracy": 1.0,
        "trajectory_accuracy": 1.0,
        "state_management_fidelity": 1.0,
        "agent_routing": 1.0,
    }


def test_session_of_one_input_passes_as_well(tmp_path: Path):
    question = GOLDEN["golden_questions"][0] | {"user_inputs": [SECOND]}
    trace = session()
    first, greeting, rest = trace["events"][0], trace["events"][1:4], trace["events"][5:]
    opening = first | {"content": {"parts": [{"text": SECOND}]}}
    trace["events"] = [item | {"invocation_id": "e1"} for item in (opening, *greeting, *rest)]
    result = run(tmp_path, trace, golden={"golden_questions": [question]})
    assert result.stdout.startswith("passed")


@pytest.mark.parametrize(
    ("without", "reason"),
    [
        ("generate_qr_code", "matched 1 of 2; missing generate_qr_code(discount_value=10)"),
        ("PaymentTool", "got GreetingAgent → BillingSupportAgent"),
    ],
)
def test_agent_that_leaves_something_out_fails(tmp_path: Path, without: str, reason: str):
    result = run(tmp_path, session(without=without))
    assert result.exit_code == 1
    assert reason in result.stdout


@pytest.mark.parametrize(
    ("strictness", "hint"),
    [
        ("tool_usage_accuracy.order=any_order", "(order=superset allows extra calls)"),
        ("trajectory_accuracy.steps=all", "(steps=major counts named steps only)"),
    ],
)
def test_strictness_can_be_asked_for_and_the_failure_names_its_parameter(
    tmp_path: Path, strictness: str, hint: str
):
    result = run(tmp_path, session(), "--param", strictness)
    assert result.exit_code == 1
    assert hint in result.stdout
