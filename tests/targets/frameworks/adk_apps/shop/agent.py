"""A shop's ADK agent with a scripted model. It looks orders up, and breaks when asked to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

USAGE = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=20, candidates_token_count=5, total_token_count=25
)


class Scripted(BaseLlm):
    """Calls `get_order` for an order, then says its status."""

    model: str = "gemini-2.5-flash"

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        part = llm_request.contents[-1].parts[-1]
        if part.function_response:
            answer = types.Part(text=f"Your order is {part.function_response.response['status']}.")
        elif "break" in (part.text or ""):
            raise RuntimeError("the model broke")
        elif "slow" in (part.text or ""):
            await asyncio.sleep(30)
            answer = types.Part(text="Too late.")
        elif "order" in (part.text or ""):
            args = {"order_id": "".join(filter(str.isdigit, part.text))}
            answer = types.Part(function_call=types.FunctionCall(name="get_order", args=args))
        else:
            answer = types.Part(text="Hello!")
        content = types.Content(role="model", parts=[answer])
        yield LlmResponse(content=content, usage_metadata=USAGE, model_version=self.model)


def get_order(order_id: str, tool_context: Any) -> dict[str, str]:
    """Return the status of an order."""
    tool_context.state["last_order"] = order_id
    tier = tool_context.state.get("tier", "none")
    return {"status": "shipped" if tier == "gold" else "waiting"}


root_agent = LlmAgent(
    name="shop", model=Scripted(), instruction="Help with orders.", tools=[get_order]
)
