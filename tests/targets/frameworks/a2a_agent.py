"""An agent on the official A2A SDK, on the port of the first argument."""

from __future__ import annotations

import sys

import uvicorn
from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, Part
from starlette.applications import Starlette


class Shop(AgentExecutor):
    """Asks for the number of an order, and answers with a message where no task is needed."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if "break" in text:
            raise RuntimeError("the agent broke")
        if context.current_task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        await updater.start_work()
        digits = "".join(filter(str.isdigit, text))
        if "order" in text and not digits:
            await updater.requires_input(updater.new_agent_message([Part(text="Which order?")]))
            return
        answer = f"Order {digits} is shipped." if digits else "Hello!"
        await updater.add_artifact([Part(text=answer)])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError


def main(port: int) -> None:
    base = f"http://127.0.0.1:{port}"
    cards = {
        "rpc": AgentInterface(
            url=f"{base}/rpc", protocol_binding="JSONRPC", protocol_version="1.0"
        ),
        "old": AgentInterface(
            url=f"{base}/rpc", protocol_binding="JSONRPC", protocol_version="0.3"
        ),
        "rest": AgentInterface(
            url=f"{base}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"
        ),
    }
    routes = []
    for name, interface in cards.items():
        card = AgentCard(
            name="shop",
            description="A shop.",
            version="1.0",
            supported_interfaces=[interface],
            capabilities=AgentCapabilities(streaming=False),
            default_input_modes=["text"],
            default_output_modes=["text"],
        )
        handler = DefaultRequestHandler(
            agent_executor=Shop(), task_store=InMemoryTaskStore(), agent_card=card
        )
        routes += create_agent_card_routes(card, card_url=f"/{name}/.well-known/agent-card.json")
        if name == "rpc":
            routes += create_jsonrpc_routes(handler, rpc_url="/rpc", enable_v0_3_compat=True)
        if name == "rest":
            routes += create_rest_routes(handler, path_prefix="/rest")
    uvicorn.run(Starlette(routes=routes), host="127.0.0.1", port=port, log_level="warning")


if __name__ == "__main__":
    main(int(sys.argv[1]))
