"""Claude Agent SDK, which runs the command line of Claude Code."""

from __future__ import annotations

import asyncio
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    TextBlock,
    create_sdk_mcp_server,
    tool,
)

from tests.captures.frameworks import chat_loop, support

MODEL = "claude-sonnet-4-5"
PREFIX = "mcp__city__"
"""How the command line names the tools of the server `city`."""
TELEMETRY = {
    "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
    "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_LOGS_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
    "OTEL_EXPORTER_OTLP_ENDPOINT": support.URL,
    "OTEL_TRACES_EXPORT_INTERVAL": "200",
    "OTEL_LOGS_EXPORT_INTERVAL": "200",
    "OTEL_LOG_USER_PROMPTS": str(int(support.CONTENT)),
    "OTEL_LOG_ASSISTANT_RESPONSES": str(int(support.CONTENT)),
    "OTEL_LOG_TOOL_DETAILS": str(int(support.CONTENT)),
    "OTEL_LOG_TOOL_CONTENT": str(int(support.CONTENT)),
}


def start_recorder() -> Any:
    if support.RECORDER != "openinference":
        return None
    provider = support.tracer_provider()
    from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor

    ClaudeAgentSDKInstrumentor().instrument(tracer_provider=provider)
    return provider


def build_tool(name: str) -> Any:
    description = support.SCENARIO["all_tools"][name]["description"]

    @tool(name, description, chat_loop.parameters(name))
    async def run(args: dict[str, Any]) -> dict[str, Any]:
        text = chat_loop.run_tool(name, args)
        is_error = text.startswith("Error: ")
        return {"content": [{"type": "text", "text": text}], "is_error": is_error}

    return run


def name_tools(reply: dict[str, Any]) -> dict[str, Any]:
    calls = [{**call, "name": f"{PREFIX}{call['name']}"} for call in reply["calls"]]
    return {**reply, "calls": calls}


def build_options() -> ClaudeAgentOptions:
    server = create_sdk_mcp_server("city", tools=[build_tool(t) for t in support.SCENARIO["tools"]])
    return ClaudeAgentOptions(
        model=MODEL,
        system_prompt=support.instructions(support.WORKER),
        mcp_servers={"city": server},
        allowed_tools=[f"{PREFIX}{name}" for name in support.SCENARIO["tools"]],
        tools=[],
        setting_sources=[],
        env={
            "ANTHROPIC_BASE_URL": support.URL,
            "ANTHROPIC_API_KEY": "test",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
            **(TELEMETRY if support.RECORDER == "native" else {}),
        },
    )


async def main() -> None:
    provider = start_recorder()
    support.replace_replies(name_tools)
    async with ClaudeSDKClient(build_options()) as client:

        async def ask(user: str) -> str | None:
            await client.query(user)
            answer = None
            async for message in client.receive_response():
                if isinstance(message, AssistantMessage):
                    texts = [
                        block.text for block in message.content if isinstance(block, TextBlock)
                    ]
                    answer = "".join(texts) or answer
                if isinstance(message, ResultMessage) and message.is_error:
                    raise RuntimeError(message.result)
            return answer

        await support.ask_all_async(ask)
        await asyncio.sleep(1)
    if provider:
        provider.force_flush()


asyncio.run(main())
