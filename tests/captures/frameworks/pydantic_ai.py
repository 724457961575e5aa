"""Pydantic AI."""

from __future__ import annotations

import base64
import functools
from typing import Any

from pydantic_ai import (
    Agent,
    BinaryContent,
    InstrumentationSettings,
    ModelRetry,
    RunContext,
    UsageLimits,
)
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

from tests.captures.frameworks import support


def start_recorder() -> Any:
    if support.RECORDER == "logfire":
        import logfire

        support.tracer_provider()
        logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
        logfire.instrument_pydantic_ai(include_content=support.CONTENT)
        return None
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor

        # The processor rewrites spans, so it must run before the one that exports them.
        provider._active_span_processor._span_processors = (
            OpenInferenceSpanProcessor(),
            *provider._active_span_processor._span_processors,
        )
    version = int(support.RECORDER[1:]) if support.RECORDER[1:].isdigit() else None
    settings: dict[str, Any] = {} if version is None else {"version": version}
    Agent.instrument_all(InstrumentationSettings(include_content=support.CONTENT, **settings))
    return provider


def retry_after_errors(tool: Any) -> Any:
    """Return a tool that tells the model about an error, which would end the run otherwise."""

    @functools.wraps(tool)
    def run(*args: Any, **kwargs: Any) -> str:
        try:
            return tool(*args, **kwargs)
        except RuntimeError as error:
            raise ModelRetry(str(error)) from error

    return run


def build_agent() -> Agent[None, str]:
    is_responses = support.RECORDER == "responses"
    model = (OpenAIResponsesModel if is_responses else OpenAIChatModel)(support.MODEL)
    worker: Agent[None, str] = Agent(
        model,
        name=support.WORKER,
        instructions=support.instructions(support.WORKER),
        tools=[*map(retry_after_errors, support.TOOLS)],
    )
    if support.TEAM != "sub-agent":
        return worker
    coordinator: Agent[None, str] = Agent(
        model, name=support.COORDINATOR, instructions=support.instructions(support.COORDINATOR)
    )

    @coordinator.tool
    async def ask_weather_agent(context: RunContext[None], question: str) -> str:
        """Ask the weather agent."""
        return (await worker.run(question, usage=context.usage)).output

    return coordinator


def build_prompt(user: str) -> Any:
    if not support.has_image(user):
        return user
    return [user, BinaryContent(base64.b64decode(support.IMAGE), media_type="image/png")]


def main() -> None:
    provider = start_recorder()
    agent = build_agent()
    history: list[Any] = []
    limits = UsageLimits(request_limit=support.MAX_STEPS)

    def ask(user: str) -> str:
        prompt = build_prompt(user)
        if support.STREAM:
            result = agent.run_stream_sync(prompt, message_history=history, usage_limits=limits)
            text = result.get_output()
        else:
            result = agent.run_sync(prompt, message_history=history, usage_limits=limits)
            text = result.output
        history[:] = result.all_messages()
        return text

    support.ask_all(ask)
    if provider:
        provider.force_flush()


main()
