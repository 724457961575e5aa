"""Ask ADK agents in this process, and print what was recorded as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import carob
from carob import Case, Dataset, ToolCall, ToolResult, Turn
from carob.schema import CaseSession

sys.path.insert(0, str(Path(__file__).parent / "adk_apps"))
AGENT = "adk:shop.agent:root_agent"
SESSION = CaseSession(app="shop", user="mara", state={"tier": "gold"})


def ask(name: str, *turns: Turn, **options: Any) -> dict[str, Any]:
    case = Case(
        id="order", turns=turns, session=SESSION, state={"tier": "gold", "last_order": "12"}
    )
    metrics = ["response_match_score", "state_management_fidelity", "tool_trajectory_avg_score"]
    dataset = Dataset(name="shop", cases=[case])
    (result,) = carob.run(golden=dataset, target=name, metrics=metrics, **options).cases
    return {
        "status": result.status,
        "scores": {score.metric: score.value for score in result.scores},
        "reason": result.scores[0].reason,
    }


def main() -> None:
    from google.adk.apps import App
    from shop import agent

    agent.app = App(name="shop", root_agent=agent.root_agent)
    call = ToolCall("get_order", {"order_id": "12"})
    question = Turn(user="order 12?", response="Your order is shipped.", tool_calls=(call,))
    mocked = Turn(
        user="order 12?",
        response="Your order is lost.",
        tool_calls=(call,),
        tool_results=(ToolResult("get_order", result={"status": "lost"}),),
    )
    hello = Turn(user="hi", response="Hello!", tool_calls=())
    print(
        json.dumps(
            {
                "agent": ask(AGENT, hello, question),
                "app": ask("adk:shop.agent:app", question),
                "broken": ask(AGENT, Turn(user="break")),
                "mocked": ask(AGENT, mocked, mocks="golden"),
                "missed": ask(AGENT, question, mocks="golden"),
            }
        )
    )


if __name__ == "__main__":
    main()
