"""smolagents."""

from __future__ import annotations

from typing import Any

from openinference.instrumentation.smolagents import SmolagentsInstrumentor
from smolagents import OpenAIServerModel, ToolCallingAgent, tool

from tests.captures.frameworks import support


def finish_with_tool(reply: dict[str, Any]) -> dict[str, Any]:
    """Return the reply with a text as the call that ends a run."""
    if not reply["text"]:
        return reply
    call = {"name": "final_answer", "args": {"answer": reply["text"]}}
    return {**reply, "text": "", "calls": [call]}


def main() -> None:
    provider = support.tracer_provider()
    SmolagentsInstrumentor().instrument(tracer_provider=provider)
    support.replace_replies(finish_with_tool)
    model = OpenAIServerModel(support.MODEL, api_base=support.API, api_key="test")
    options: dict[str, Any] = {
        "tools": [tool(function) for function in support.TOOLS],
        "model": model,
        "name": support.WORKER,
        "description": "Knows the weather.",
        "instructions": support.instructions(support.WORKER),
        "verbosity_level": 0,
    }
    if support.MAX_STEPS:
        options["max_steps"] = support.MAX_STEPS
    agent: Any = ToolCallingAgent(**options)
    if support.TEAM == "sub-agent":
        agent = ToolCallingAgent(
            tools=[],
            managed_agents=[agent],
            model=model,
            name=support.COORDINATOR,
            instructions=support.instructions(support.COORDINATOR),
            verbosity_level=0,
        )

    def ask(user: str) -> str:
        return str(agent.run(user, reset=False))

    support.ask_all(ask)
    provider.force_flush()


main()
