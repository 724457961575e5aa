"""OpenAI's SDK in functions with a tracing library's decorators, as people write agents by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from openai import OpenAI

from tests.captures.frameworks import chat_loop, support

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
Decorate = Callable[[str, str], Decorator]
"""Takes the kind of a function, which is `chain`, `agent` or `tool`, and its name."""


def start_openinference() -> Decorate:
    from openinference.instrumentation import OITracer, TraceConfig
    from openinference.instrumentation.openai import OpenAIInstrumentor
    from opentelemetry import trace

    OpenAIInstrumentor().instrument(tracer_provider=support.tracer_provider())
    tracer = OITracer(trace.get_tracer("weather"), config=TraceConfig())
    return lambda kind, name: getattr(tracer, kind)(name=name)


def start_langfuse() -> Decorate:
    from langfuse import Langfuse, observe

    Langfuse(public_key="pk", secret_key="sk", host=support.URL)
    return lambda kind, name: observe(name=name, as_type=kind)


def start_logfire() -> Decorate:
    import logfire

    support.tracer_provider()
    logfire.configure(send_to_logfire=False, console=False, inspect_arguments=False)
    logfire.instrument_openai()
    return lambda kind, name: logfire.instrument(name, record_return=True)


def start_langwatch() -> Decorate:
    import langwatch
    from openinference.instrumentation.openai import OpenAIInstrumentor

    langwatch.setup(api_key="test", endpoint_url=support.URL, instrumentors=[OpenAIInstrumentor()])

    def decorate(kind: str, name: str) -> Decorator:
        if kind == "chain":
            return langwatch.trace(name=name)
        return langwatch.span(name=name, type=kind)

    return decorate


def start_opik() -> Decorate:
    support.start_opik()
    import opik

    types = {"chain": "general", "agent": "general", "tool": "tool"}
    return lambda kind, name: opik.track(name=name, type=types[kind])


def start_weave() -> Decorate:
    support.start_weave()
    import weave

    return lambda kind, name: weave.op(name=name, kind={"chain": None}.get(kind, kind))


def create_client() -> Any:
    if support.RECORDER == "opik":
        from opik.integrations.openai import track_openai

        return track_openai(OpenAI())
    if support.RECORDER == "langfuse":
        from langfuse.openai import OpenAI as TracedOpenAI

        return TracedOpenAI()
    return OpenAI()


class Loop:
    """A conversation with a model that has tools."""

    def __init__(self, client: Any, agent: str, tools: dict[str, Callable[..., Any]]) -> None:
        self.client = client
        self.tools = tools
        self.messages: list[Any] = [{"role": "system", "content": support.instructions(agent)}]

    def ask(self, user: str) -> str:
        """Ask the model until it answers."""
        self.messages.append({"role": "user", "content": user})
        schemas = [*chat_loop.tool_schemas(), ASK_WEATHER_AGENT]
        while True:
            reply = self.client.chat.completions.create(
                model=support.MODEL,
                messages=self.messages,
                tools=[schema for schema in schemas if schema["function"]["name"] in self.tools],
            )
            message = reply.choices[0].message.model_dump(exclude_none=True)
            self.messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            self.messages += map(self.run_tool, message["tool_calls"])

    def run_tool(self, call: dict[str, Any]) -> dict[str, Any]:
        function = call["function"]
        try:
            result = self.tools[function["name"]](**chat_loop.read_args(function["arguments"]))
        except (KeyError, RuntimeError, TypeError) as error:
            result = f"Error: {error}"
        text = result if isinstance(result, str) else json.dumps(result)
        return {"role": "tool", "tool_call_id": call["id"], "content": text}


ASK_WEATHER_AGENT = {
    "type": "function",
    "function": {
        "name": "ask_weather_agent",
        "description": "Ask the weather agent.",
        "parameters": {
            "type": "object",
            "properties": {"question": {"type": "string"}},
            "required": ["question"],
        },
    },
}


def build_agent(decorate: Decorate) -> Callable[[str], str]:
    client = create_client()
    tools = {tool.__name__: decorate("tool", tool.__name__)(tool) for tool in support.TOOLS}
    worker = Loop(client, support.WORKER, tools)

    def weather_agent(question: str) -> str:
        return worker.ask(question)

    ask_worker = decorate("agent", support.WORKER)(weather_agent)
    if support.TEAM != "sub-agent":
        return ask_worker

    def ask_weather_agent(question: str) -> str:
        return ask_worker(question)

    ask = decorate("tool", "ask_weather_agent")(ask_weather_agent)
    loop = Loop(client, support.COORDINATOR, {"ask_weather_agent": ask})

    def coordinator(user: str) -> str:
        return loop.ask(user)

    return decorate("agent", support.COORDINATOR)(coordinator)


def main() -> None:
    starters = {
        "openinference": start_openinference,
        "langfuse": start_langfuse,
        "logfire": start_logfire,
        "langwatch": start_langwatch,
        "opik": start_opik,
        "weave": start_weave,
    }
    decorate = starters[support.RECORDER]()
    agent = build_agent(decorate)

    def answer_user(user: str) -> str:
        return agent(user)

    support.ask_all(decorate("chain", "answer_user")(answer_user))
    support.flush()


main()
