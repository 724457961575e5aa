"""Agents of frameworks with mocked tools, asked by Carob; prints the outcomes as JSON.

Every model is scripted: it calls `get_order`, then says what the tool returned.
"""

from __future__ import annotations

import json
from typing import Any

import carob
from carob import Case, Dataset, ToolCall, ToolResult, Turn
from carob.targets.framework_mocks import (
    langchain_middleware,
    mock_openai_agent,
    mock_pydantic_ai,
)

RAN: list[str] = []
"""The frameworks whose real tool ran."""


def ask(name: str, target: Any, **options: Any) -> dict[str, Any]:
    turn = Turn(
        user="order 12?",
        response="It is lost.",
        tool_calls=(ToolCall("get_order", {"order_id": "12"}),),
        tool_results=(ToolResult("get_order", result="lost"),),
    )
    other = Turn(user="order 99?", response="It is lost.")
    results = {}
    for label, question in (("known", turn), ("unknown", other)):
        RAN.clear()
        dataset = Dataset(name=name, cases=[Case(id=label, turns=(question,))])
        run = carob.run(
            golden=dataset, target=target, metrics="exact_match", mocks="golden", **options
        )
        (result,) = run.cases
        results[label] = [result.status, result.scores[0].reason, [*RAN]]
    return results


async def ask_openai(message: str, conversation: Any) -> str:
    from agents import (
        Agent,
        Model,
        ModelResponse,
        Runner,
        Usage,
        function_tool,
        set_tracing_disabled,
    )
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    set_tracing_disabled(True)

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kw: Any):
            last = input[-1] if isinstance(input, list) else {"content": input}
            if last.get("type") == "function_call_output":
                part = ResponseOutputText(
                    type="output_text", text=f"It is {last['output']}.", annotations=[]
                )
                item: Any = ResponseOutputMessage(
                    id="m", type="message", role="assistant", status="completed", content=[part]
                )
            else:
                order = "".join(filter(str.isdigit, last["content"]))
                item = ResponseFunctionToolCall(
                    type="function_call",
                    call_id="c1",
                    name="get_order",
                    arguments=json.dumps({"order_id": order}),
                )
            return ModelResponse(output=[item], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError

    @function_tool
    def get_order(order_id: str) -> str:
        """Return the status of an order."""
        RAN.append("openai")
        return "shipped"

    agent = Agent(name="shop", model=Scripted(), tools=[get_order])
    result = await Runner.run(mock_openai_agent(agent, conversation.mocks), message)
    return str(result.final_output)


async def ask_langchain(message: str, conversation: Any) -> str:
    from langchain.agents import create_agent
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool

    class Scripted(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> ChatResult:
            last = messages[-1]
            if isinstance(last, ToolMessage):
                reply = AIMessage(content=f"It is {last.content}.")
            else:
                order = "".join(filter(str.isdigit, last.content))
                call = {"name": "get_order", "args": {"order_id": order}, "id": "c1"}
                reply = AIMessage(content="", tool_calls=[call])
            return ChatResult(generations=[ChatGeneration(message=reply)])

    @tool
    def get_order(order_id: str) -> str:
        """Return the status of an order."""
        RAN.append("langchain")
        return "shipped"

    agent = create_agent(
        Scripted(messages=iter([])),
        tools=[get_order],
        middleware=langchain_middleware(conversation.mocks),
    )
    state = await agent.ainvoke({"messages": [{"role": "user", "content": message}]})
    return state["messages"][-1].content


async def ask_pydantic_ai(message: str, conversation: Any) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def scripted(messages: Any, info: Any) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            return ModelResponse(parts=[TextPart(f"It is {last.content}.")])
        order = "".join(filter(str.isdigit, str(last.content)))
        return ModelResponse(parts=[ToolCallPart("get_order", {"order_id": order})])

    agent = Agent(FunctionModel(scripted))

    @agent.tool_plain
    def get_order(order_id: str) -> str:
        """Return the status of an order."""
        RAN.append("pydantic-ai")
        return "shipped"

    with mock_pydantic_ai(agent, conversation.mocks):
        return (await agent.run(message)).output


if __name__ == "__main__":
    targets = {"openai": ask_openai, "langchain": ask_langchain, "pydantic-ai": ask_pydantic_ai}
    print(json.dumps({name: ask(name, target) for name, target in targets.items()}))
