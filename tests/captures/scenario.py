"""The scripted conversations that every framework is run through.

A scenario says what the user asks and what the model replies, call by call. The tools are the
same everywhere and return fixed texts, so that what happened is known without reading a trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MODEL = "gpt-4o-mini"
WORKER = "weather_agent"
"""The agent that has the tools."""
COORDINATOR = "coordinator"
"""The agent that hands over to the worker, in the scenarios with two agents."""
HAND_OVER = "hand_over"
"""Stands for the tool of a framework that passes the conversation to the worker."""

TOOLS: dict[str, dict[str, Any]] = {
    "get_weather": {
        "description": "Get the current weather of a city.",
        "parameters": {"city": "string"},
        "result": "18C and sunny in {city}",
    },
    "get_population": {
        "description": "Get the number of people who live in a city.",
        "parameters": {"city": "string"},
        "result": "2 million people live in {city}",
    },
    "book_table": {
        "description": "Book a table in a restaurant.",
        "parameters": {"city": "string", "guests": "integer"},
        "error": "no table is free in {city}",
    },
}


@dataclass(frozen=True)
class Call:
    """A tool call of the model."""

    name: str
    args: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Reply:
    """What the model replies to one request: calls, or a text."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    agent: str = WORKER


@dataclass(frozen=True)
class Question:
    """A message of the user, and the replies of the model until the answer."""

    user: str
    replies: tuple[Reply, ...]


@dataclass(frozen=True)
class Scenario:
    """A conversation."""

    name: str
    questions: tuple[Question, ...]
    tools: tuple[str, ...] = tuple(TOOLS)
    max_steps: int | None = None
    """The limit of model calls, which the model would exceed."""

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents, in the order in which they take over."""
        return tuple(
            dict.fromkeys(reply.agent for asked in self.questions for reply in asked.replies)
        )


def _ask_weather(city: str, agent: str = WORKER) -> Reply:
    return Reply(calls=(Call("get_weather", {"city": city}),), agent=agent)


_PARIS = "What is the weather in Paris?"
_SUNNY = "It is 18C and sunny in Paris."
_ONE_CALL = Question(_PARIS, (_ask_weather("Paris"), Reply(_SUNNY)))
_TO_WORKER = Reply(calls=(Call(HAND_OVER, {}),), agent=COORDINATOR)

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("no-tools", (Question("Say hello.", (Reply("Hello there!"),)),), tools=()),
        Scenario("one-call", (_ONE_CALL,)),
        Scenario("approval", (_ONE_CALL,)),  # the user approves the call before it runs
        Scenario(
            "parallel-calls",
            (
                Question(
                    "How is the weather in Paris, and how many people live in Rome?",
                    (
                        Reply(
                            calls=(
                                Call("get_weather", {"city": "Paris"}),
                                Call("get_population", {"city": "Rome"}),
                            )
                        ),
                        Reply("Paris is sunny at 18C, and 2 million people live in Rome."),
                    ),
                ),
            ),
        ),
        Scenario(
            "failing-tool",
            (
                Question(
                    "Book a table for 4 guests in Oslo.",
                    (
                        Reply(calls=(Call("book_table", {"city": "Oslo", "guests": 4}),)),
                        Reply("Sorry, no table is free in Oslo."),
                    ),
                ),
            ),
        ),
        Scenario(
            "two-turns",
            (
                _ONE_CALL,
                Question(
                    "And in Rome?",
                    (_ask_weather("Rome"), Reply("Rome has 18C and sun as well.")),
                ),
            ),
        ),
        Scenario(
            "hand-over",
            (Question(_PARIS, (_TO_WORKER, _ask_weather("Paris"), Reply(_SUNNY))),),
        ),
        Scenario(
            "sub-agent",
            (
                Question(
                    _PARIS,
                    (
                        _TO_WORKER,
                        _ask_weather("Paris"),
                        Reply("18C, sunny."),
                        Reply(_SUNNY, agent=COORDINATOR),
                    ),
                ),
            ),
        ),
        Scenario(
            "step-limit",
            (
                Question(
                    "Compare the weather of all capitals.",
                    tuple(map(_ask_weather, ("Paris", "Rome", "Oslo", "Bern", "Riga"))),
                ),
            ),
            max_steps=2,
        ),
    )
}


def resolve_hand_over(scenario: Scenario, hand_over: Mapping[str, Any] | None) -> Scenario:
    """Return the scenario with the framework's own call in place of `HAND_OVER`."""
    if hand_over is None:
        return scenario

    def resolve(call: Call) -> Call:
        return Call(hand_over["name"], hand_over["args"]) if call.name == HAND_OVER else call

    def rewrite(reply: Reply) -> Reply:
        return replace(reply, calls=tuple(map(resolve, reply.calls)))

    questions = (
        replace(asked, replies=tuple(map(rewrite, asked.replies))) for asked in scenario.questions
    )
    return replace(scenario, questions=tuple(questions))


def tool_outcome(name: str, args: Mapping[str, Any]) -> tuple[str, bool] | None:
    """Return the text that a tool returns or raises, and whether it raises."""
    tool = TOOLS.get(name)
    if tool is None:
        return None
    return tool.get("result", tool.get("error", "")).format(**args), "error" in tool
