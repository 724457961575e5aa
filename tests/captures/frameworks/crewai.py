"""CrewAI."""

from __future__ import annotations

import os
from typing import Any

from tests.captures.frameworks import support

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "CREWAI_TRACING_ENABLED": "false"}

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER.startswith("openinference"):
        from openinference.instrumentation.crewai import CrewAIInstrumentor

        CrewAIInstrumentor().instrument(tracer_provider=provider)
        if support.RECORDER == "openinference-openai":
            from openinference.instrumentation.openai import OpenAIInstrumentor

            OpenAIInstrumentor().instrument(tracer_provider=provider)
    else:
        from opentelemetry.instrumentation.crewai import CrewAIInstrumentor

        CrewAIInstrumentor().instrument(tracer_provider=provider)
    return provider


def main() -> None:
    provider = start_recorder()
    model = LLM(model=f"openai/{support.MODEL}", base_url=support.API, api_key="test")
    options: dict[str, Any] = {"max_iter": support.MAX_STEPS} if support.MAX_STEPS else {}
    agent = Agent(
        role=support.WORKER,
        goal="Answer questions.",
        backstory=support.instructions(support.WORKER),
        tools=[tool(function) for function in support.TOOLS],
        llm=model,
        **options,
    )

    def ask(user: str) -> str:
        task = Task(description=user, expected_output="A short answer.", agent=agent)
        return str(Crew(agents=[agent], tasks=[task]).kickoff())

    support.ask_all(ask)
    provider.force_flush()


main()
