"""pydantic-ai's AG-UI adapter around a scripted agent, on the port of the first argument."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import uvicorn
from ag_ui.core import EventType, StateSnapshotEvent
from pydantic import BaseModel
from pydantic_ai import Agent, RunContext, ToolReturn
from pydantic_ai.messages import ModelMessage, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


class ShopState(BaseModel):
    tier: str = "none"
    last_order: str = ""


async def scripted(
    messages: list[ModelMessage], info: AgentInfo
) -> AsyncIterator[str | DeltaToolCalls]:
    last = messages[-1].parts[-1]
    if isinstance(last, ToolReturnPart):
        yield "Your order is "
        yield f"{last.content}."
        return
    text = last.content if isinstance(last, UserPromptPart) else ""
    if "break" in text:
        raise RuntimeError("the model broke")
    if "screen" in text:
        args = '{"page": "orders"}'
        yield {0: DeltaToolCall(name="show_screen", json_args=args, tool_call_id="c9")}
    elif "order" in text:
        digits = "".join(filter(str.isdigit, text))
        yield {0: DeltaToolCall(name="get_order", json_args="", tool_call_id=f"call-{digits}")}
        yield {0: DeltaToolCall(json_args=f'{{"order_id": "{digits}"}}')}
    else:
        yield "Hello!"


agent = Agent(FunctionModel(stream_function=scripted), deps_type=StateDeps[ShopState])


@agent.tool
async def get_order(ctx: RunContext[StateDeps[ShopState]], order_id: str) -> ToolReturn:
    """Return the status of an order."""
    state = ctx.deps.state
    state.last_order = order_id
    snapshot = StateSnapshotEvent(type=EventType.STATE_SNAPSHOT, snapshot=state.model_dump())
    status = "shipped" if state.tier == "gold" else "waiting"
    return ToolReturn(return_value=status, metadata=[snapshot])


async def run(request: Request) -> Response:
    return await AGUIAdapter.dispatch_request(request, agent=agent, deps=StateDeps(ShopState()))


if __name__ == "__main__":
    app = Starlette(routes=[Route("/", run, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
