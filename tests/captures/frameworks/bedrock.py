"""AWS's SDK with Bedrock's Converse API, in a loop that runs the tools."""

from __future__ import annotations

import os
from typing import Any

from tests.captures.frameworks import chat_loop, support

os.environ |= {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
}
MODEL = "amazon.nova-lite-v1:0"


def start_recorder() -> Any:
    provider = support.tracer_provider()
    if support.RECORDER == "openinference":
        from openinference.instrumentation.bedrock import BedrockInstrumentor

        BedrockInstrumentor().instrument(tracer_provider=provider)
    elif support.RECORDER == "openllmetry":
        from opentelemetry.instrumentation.bedrock import BedrockInstrumentor

        BedrockInstrumentor().instrument(tracer_provider=provider)
    else:
        from opentelemetry.instrumentation.botocore import BotocoreInstrumentor

        support.logger_provider()
        BotocoreInstrumentor().instrument(tracer_provider=provider)
    return provider


def main() -> None:
    provider = start_recorder()
    import boto3

    client = boto3.client("bedrock-runtime", endpoint_url=support.URL)
    tools = [
        {
            "toolSpec": {
                "name": name,
                "description": support.SCENARIO["all_tools"][name]["description"],
                "inputSchema": {"json": chat_loop.parameters(name)},
            }
        }
        for name in support.SCENARIO["tools"]
    ]
    options = {"toolConfig": {"tools": tools}} if tools else {}
    messages: list[dict[str, Any]] = []

    def ask(user: str) -> str:
        messages.append({"role": "user", "content": [{"text": user}]})
        with chat_loop.start_span("request"):
            while True:
                reply = client.converse(
                    modelId=MODEL,
                    system=[{"text": support.instructions(support.WORKER)}],
                    messages=messages,
                    **options,
                )["output"]["message"]
                messages.append(reply)
                uses = [block["toolUse"] for block in reply["content"] if "toolUse" in block]
                if not uses:
                    return reply["content"][0]["text"]
                results = [{"toolResult": run_tool(use)} for use in uses]
                messages.append({"role": "user", "content": results})

    support.ask_all(ask)
    provider.force_flush()


def run_tool(use: dict[str, Any]) -> dict[str, Any]:
    result = {"toolUseId": use["toolUseId"]}
    try:
        text = getattr(support, use["name"])(**use["input"])
        return {**result, "content": [{"text": text}], "status": "success"}
    except RuntimeError as error:
        return {**result, "content": [{"text": str(error)}], "status": "error"}


main()
