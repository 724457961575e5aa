"""Tool mocks inside agent frameworks: the agent stays as it is, only its tools are answered.

Each function takes the mocks of an attempt, `conversation.mocks` in a Python target; without mocks
(`None`) the agent runs its real tools.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import msgspec

from carob.lazy import load_object
from carob.schema import Json
from carob.targets.mocks import MissingMockError, MockedResult, ToolMocks


async def answer_call(mocks: ToolMocks, tool: str, args: Json) -> tuple[bool, Json]:
    """Return whether the call is answered, and with what. An error is text that the model sees."""
    try:
        return _describe(await mocks.answer(tool, args))
    except MissingMockError as error:
        return _describe_miss(mocks, error)


def answer_call_now(mocks: ToolMocks, tool: str, args: Json) -> tuple[bool, Json]:
    """Return what `answer_call` returns, for code that cannot wait for it."""
    try:
        return _describe(mocks.find(tool, args))
    except MissingMockError as error:
        return _describe_miss(mocks, error)


def _describe(result: MockedResult | None) -> tuple[bool, Json]:
    if result is None:
        return False, None
    if result.error is not None:
        return True, f"error: {result.error}"
    return True, result.result


def _describe_miss(mocks: ToolMocks, error: MissingMockError) -> tuple[bool, Json]:
    if mocks.on_miss == "stop":
        raise error
    return True, f"error: {error}"


def _text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def mock_openai_agent(agent: Any, mocks: ToolMocks | None) -> Any:
    """Return a copy of an agent of the OpenAI Agents SDK, and of those it hands over to, with
    mocked function tools."""
    return agent if mocks is None else _clone(agent, mocks, {})


def _clone(agent: Any, mocks: ToolMocks, known: dict[int, Any]) -> Any:
    if id(agent) not in known:
        copy = agent.clone(tools=[_mock_tool(tool, mocks) for tool in agent.tools], handoffs=[])
        known[id(agent)] = copy  # before the agents that it hands over to: one may hand back
        copy.handoffs = [
            _clone(other, mocks, known) if hasattr(other, "clone") else other
            for other in agent.handoffs
        ]
    return known[id(agent)]


def _mock_tool(tool: Any, mocks: ToolMocks) -> Any:
    real: Callable[..., Any] | None = getattr(tool, "on_invoke_tool", None)
    if real is None:  # run by the provider
        return tool

    async def invoke(context: Any, text: str) -> Any:
        args: Json = msgspec.json.decode(text) if text else None
        answered, value = await answer_call(mocks, tool.name, args or {})
        return _text(value) if answered else await real(context, text)

    return dataclasses.replace(tool, on_invoke_tool=invoke)


def langchain_middleware(mocks: ToolMocks | None) -> list[Any]:
    """Return the middleware for `create_agent(middleware=…)` of LangChain 1.x."""
    if mocks is None:
        return []
    base: Any = load_object("langchain.agents.middleware:AgentMiddleware")
    message: Any = load_object("langchain_core.messages:ToolMessage")

    def reply(call: Any, answer: tuple[bool, Json]) -> Any:
        answered, value = answer
        if not answered:
            return None
        return message(content=_text(value), tool_call_id=call["id"], name=call["name"])

    class MockMiddleware(base):
        """Answers tool calls with recorded results."""

        def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            """Answer a call, or run the tool."""
            call = request.tool_call
            mocked = reply(call, answer_call_now(mocks, call["name"], call["args"]))
            return handler(request) if mocked is None else mocked

        async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
            """Answer a call, or run the tool."""
            call = request.tool_call
            mocked = reply(call, await answer_call(mocks, call["name"], call["args"]))
            return await handler(request) if mocked is None else mocked

    return [MockMiddleware()]


def mock_pydantic_ai(agent: Any, mocks: ToolMocks | None) -> AbstractContextManager[Any]:
    """Return a block in which an agent of pydantic-ai has mocked tools."""
    if mocks is None:
        return nullcontext()
    base: Any = load_object("pydantic_ai.toolsets:WrapperToolset")

    class MockToolset(base):
        """Answers tool calls with recorded results."""

        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            """Answer a call, or run the tool."""
            answered, value = await answer_call(mocks, name, tool_args)
            return value if answered else await base.call_tool(self, name, tool_args, ctx, tool)

    return agent.override(toolsets=[MockToolset(toolset) for toolset in agent.toolsets], tools=[])
