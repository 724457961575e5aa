"""Strands Agents."""

from __future__ import annotations

import os
from typing import Any

from tests.captures.frameworks import support

if support.RECORDER == "latest":
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"

from strands import Agent, tool
from strands.models.openai import OpenAIModel

MODEL_OPTIONS: dict[str, Any] = {
    "client_args": {"api_key": "test", "base_url": support.API},
    "model_id": support.MODEL,
}


def main() -> None:
    provider = support.tracer_provider()
    worker = Agent(
        model=OpenAIModel(**MODEL_OPTIONS),
        name=support.WORKER,
        system_prompt=support.instructions(support.WORKER),
        tools=[tool(function) for function in support.TOOLS],
        callback_handler=None,
        trace_attributes={"session.id": "session_1"},
    )
    agent = worker
    if support.TEAM == "sub-agent":

        @tool
        def ask_weather_agent(question: str) -> str:
            """Ask the weather agent."""
            return str(worker(question)).strip()

        agent = Agent(
            model=OpenAIModel(**MODEL_OPTIONS),
            name=support.COORDINATOR,
            system_prompt=support.instructions(support.COORDINATOR),
            tools=[ask_weather_agent],
            callback_handler=None,
            trace_attributes={"session.id": "session_1"},
        )
    support.ask_all(lambda user: str(agent(user)).strip())
    provider.force_flush()


main()
