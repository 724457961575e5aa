"""Haystack."""

from __future__ import annotations

import os
from typing import Any

from tests.captures.frameworks import support

os.environ["HAYSTACK_CONTENT_TRACING_ENABLED"] = str(support.CONTENT).lower()

from haystack import Pipeline
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import ComponentTool, create_tool_from_function
from haystack.utils import Secret


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.haystack import HaystackInstrumentor

        HaystackInstrumentor().instrument(tracer_provider=provider)
    else:
        from haystack.tracing import OpenTelemetryTracer, enable_tracing, tracer
        from opentelemetry import trace

        enable_tracing(OpenTelemetryTracer(trace.get_tracer("haystack")))
        tracer.is_content_tracing_enabled = support.CONTENT
    return provider


def build_agent(name: str, tools: list[Any]) -> Agent:
    options: dict[str, Any] = {"max_agent_steps": support.MAX_STEPS} if support.MAX_STEPS else {}
    return Agent(
        chat_generator=OpenAIChatGenerator(
            model=support.MODEL, api_base_url=support.API, api_key=Secret.from_token("test")
        ),
        tools=tools,
        system_prompt=support.instructions(name),
        raise_on_tool_invocation_failure=False,
        **options,
    )


def main() -> None:
    provider = start_recorder()
    agent = build_agent(support.WORKER, [*map(create_tool_from_function, support.TOOLS)])
    if support.TEAM == "sub-agent":
        tool = ComponentTool(agent, name="ask_weather_agent", description="Ask the weather agent.")
        agent = build_agent(support.COORDINATOR, [tool])
    pipeline = Pipeline()
    pipeline.add_component("agent", agent)
    history: list[ChatMessage] = []

    def ask(user: str) -> str | None:
        history.append(ChatMessage.from_user(user))
        result = pipeline.run({"agent": {"messages": history}})["agent"]
        history[:] = [message for message in result["messages"] if not message.is_from("system")]
        return result["last_message"].text

    support.ask_all(ask)
    provider.force_flush()


main()
