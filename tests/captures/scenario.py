"""The scripted conversations that every framework is run through.

A scenario says what the user asks and what the model replies, call by call. The tools are the
same everywhere and return fixed texts, so that what happened is known without reading a trace.
"""

from __future__ import annotations

import json
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
    "find_hotels": {
        "description": "Find hotels in a city.",
        "parameters": {"city": "string"},
        "result": [{"name": "Harbour Inn", "stars": 3}, {"name": "Old Mill", "stars": 4}],
    },
    "get_prices": {
        "description": "Get the prices of a city.",
        "parameters": {"city": "string"},
        "result": {"taxi": 12.5, "museum": None, "free_days": ["Monday"], "open": True},
    },
    "count_visitors": {
        "description": "Count the visitors of a city.",
        "parameters": {"city": "string"},
        "result": 4200,
    },
    "list_closures": {
        "description": "List the closed streets of a city, one per line.",
        "parameters": {"city": "string"},
        "result": "",
    },
    "read_guide": {
        "description": "Read the whole guide of a city.",
        "parameters": {"city": "string"},
        "result": "{city} has many streets. " * 4000,
    },
    "list_events": {
        "description": "List the events of a city.",
        "parameters": {"city": "string"},
        "result": [],
    },
    "find_parking": {
        "description": "Find free parking in a city.",
        "parameters": {"city": "string"},
        "result": None,
    },
    "count_strikes": {
        "description": "Count the strikes in a city.",
        "parameters": {"city": "string"},
        "result": 0,
    },
    "is_flooded": {
        "description": "Whether streets of a city are flooded.",
        "parameters": {"city": "string"},
        "result": False,
    },
    "get_time": {
        "description": "Get the current time.",
        "parameters": {},
        "result": "It is noon.",
    },
}
_USUAL_TOOLS = ("get_weather", "get_population", "book_table")
UNKNOWN_TOOL = "get_tides"
"""A tool that no agent has."""


@dataclass(frozen=True)
class Call:
    """A tool call of the model."""

    name: str
    args: dict[str, Any] = field(default_factory=dict[str, Any])
    raw: str | None = None
    """What the model writes instead of the arguments, which is not JSON."""


@dataclass(frozen=True)
class Reply:
    """What the model replies to one request: calls, or a text."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    agent: str = WORKER
    reasoning: str = ""
    failures: tuple[int, ...] = ()
    """The HTTP statuses of the failed attempts before this reply."""
    refusal: int | None = None
    """The HTTP status of a request that fails for good."""
    about: str = ""
    """A word of the request, for agents that run at once in any order."""


@dataclass(frozen=True)
class Question:
    """A message of the user, and the replies of the model until the answer."""

    user: str
    replies: tuple[Reply, ...]
    has_image: bool = False
    """Whether the message holds an image beside the text."""


@dataclass(frozen=True)
class Scenario:
    """A conversation."""

    name: str
    questions: tuple[Question, ...]
    tools: tuple[str, ...] = _USUAL_TOOLS
    max_steps: int | None = None
    """The limit of model calls, which the model would exceed."""
    team: str | None = None
    """How two agents work together: `hand-over` or `sub-agent`."""

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


def _delegate(*cities: str) -> Reply:
    return Reply(calls=tuple(Call(HAND_OVER, {"city": c}) for c in cities), agent=COORDINATOR)


_HELLO = Question("Thank you!", (Reply("My pleasure."),))

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
            team="hand-over",
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
            team="sub-agent",
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
        Scenario(
            "retry",
            (
                Question(
                    _PARIS,
                    (
                        replace(_ask_weather("Paris"), failures=(429,)),
                        Reply(_SUNNY, failures=(500,)),
                    ),
                ),
            ),
        ),
        Scenario(
            "model-failure",
            (Question(_PARIS, (_ask_weather("Paris"), Reply(refusal=400))), _HELLO),
        ),
        Scenario("same-twice", (_ONE_CALL, _ONE_CALL)),
        Scenario(
            "repeated-calls",
            (
                Question(
                    "What is the weather in Paris? Check three times.",
                    (
                        Reply(calls=(Call("get_weather", {"city": "Paris"}),) * 2),
                        _ask_weather("Paris"),
                        Reply(_SUNNY),
                    ),
                ),
            ),
        ),
        Scenario(
            "preface",
            (
                Question(
                    _PARIS,
                    (
                        replace(_ask_weather("Paris"), text="Let me look that up."),
                        replace(_ask_weather("Rome"), text="And for comparison:"),
                        Reply(_SUNNY),
                    ),
                ),
            ),
        ),
        Scenario(
            "odd-results",
            (
                Question(
                    "Tell me everything about Oslo.",
                    (
                        Reply(calls=(Call("find_hotels", {"city": "Oslo"}),)),
                        Reply(
                            calls=(
                                Call("get_prices", {"city": "Oslo"}),
                                Call("count_visitors", {"city": "Oslo"}),
                            )
                        ),
                        Reply(calls=(Call("list_closures", {"city": "Oslo"}),)),
                        Reply(calls=(Call("get_time", {}),)),
                        Reply("Oslo has two hotels."),
                    ),
                ),
            ),
            tools=("find_hotels", "get_prices", "count_visitors", "list_closures", "get_time"),
        ),
        Scenario(
            "empty-results",
            (
                Question(
                    "What goes on in Oslo?",
                    (
                        Reply(calls=(Call("list_events", {"city": "Oslo"}),)),
                        Reply(
                            calls=(
                                Call("find_parking", {"city": "Oslo"}),
                                Call("count_strikes", {"city": "Oslo"}),
                            )
                        ),
                        Reply(calls=(Call("is_flooded", {"city": "Oslo"}),)),
                        Reply("Oslo is quiet."),
                    ),
                ),
            ),
            tools=("list_events", "find_parking", "count_strikes", "is_flooded"),
        ),
        Scenario(
            "one-of-two-fails",
            (
                Question(
                    "How is the weather in Oslo, and book a table for 4 guests there.",
                    (
                        Reply(
                            calls=(
                                Call("book_table", {"city": "Oslo", "guests": 4}),
                                Call("get_weather", {"city": "Oslo"}),
                            )
                        ),
                        Reply("Oslo has 18C, but no free table."),
                    ),
                ),
            ),
        ),
        Scenario(
            "image",
            (
                Question(
                    "What is the weather in the city on this photo?",
                    (_ask_weather("Paris"), Reply(_SUNNY)),
                    has_image=True,
                ),
                _HELLO,
            ),
        ),
        Scenario(
            "large-result",
            (
                Question(
                    "Sum up the guide of Oslo.",
                    (Reply(calls=(Call("read_guide", {"city": "Oslo"}),)), Reply("Many streets.")),
                ),
            ),
            tools=("read_guide",),
        ),
        Scenario(
            "unknown-tool",
            (
                Question(
                    "When is high tide in Oslo?",
                    (Reply(calls=(Call(UNKNOWN_TOOL, {"city": "Oslo"}),)), Reply("I cannot say.")),
                ),
            ),
        ),
        Scenario(
            "invalid-args",
            (
                Question(
                    _PARIS,
                    (
                        Reply(calls=(Call("get_weather", {}, raw='{"city": "Par'),)),
                        _ask_weather("Paris"),
                        Reply(_SUNNY),
                    ),
                ),
            ),
        ),
        Scenario(
            "other-languages",
            (
                Question(
                    '¿Qué tiempo hace en 東京? 🌦️\n«مرحبا» & <b>"ok"</b> {x}',
                    (
                        Reply(calls=(Call("get_weather", {"city": "東京 🗼"}),)),
                        Reply("En 東京: 18 °C ☀️ – \"despejado\" \\ {'a': 1}\n\nمع السلامة"),
                    ),
                ),
            ),
        ),
        Scenario(
            "json-texts",
            (
                Question('{"city": "Paris"}', (_ask_weather("Paris"), Reply('{"celsius": 18}'))),
                Question("42", (Reply("true"),)),
                Question('["Rome", "Oslo"]', (_ask_weather("Rome"), Reply("[18, null]"))),
            ),
        ),
        Scenario(
            "mixed-turns",
            (
                Question(
                    "Compare Paris and Rome.",
                    (_ask_weather("Paris"), _ask_weather("Rome"), Reply("Both have 18C.")),
                ),
                _HELLO,
                Question("Paris once more?", (_ask_weather("Paris"), Reply("Still 18C."))),
            ),
        ),
        Scenario(
            "reasoning",
            (
                Question(
                    _PARIS,
                    (
                        replace(_ask_weather("Paris"), reasoning="I need the tool for Paris."),
                        Reply(_SUNNY, reasoning="The tool says that it is sunny."),
                    ),
                ),
            ),
        ),
        Scenario(
            "empty-answer",
            (_ONE_CALL, Question("And in Rome?", (_ask_weather("Rome"), Reply("")))),
        ),
        Scenario(
            "sub-agent-twice",
            (
                Question(
                    "Is it warmer in Paris or in Rome?",
                    (
                        _delegate("Paris"),
                        _ask_weather("Paris"),
                        Reply("Paris: 18C, sunny."),
                        _delegate("Rome"),
                        _ask_weather("Rome"),
                        Reply("Rome: 18C, sunny."),
                        Reply("Both have 18C.", agent=COORDINATOR),
                    ),
                ),
                replace(_HELLO, replies=(Reply("My pleasure.", agent=COORDINATOR),)),
            ),
            team="sub-agent",
        ),
        Scenario(
            "sub-agents-at-once",
            (
                Question(
                    "Is it warmer in Paris or in Rome?",
                    (
                        _delegate("Paris", "Rome"),
                        replace(_ask_weather("Paris"), about="Weather in Paris"),
                        Reply("Paris: 18C, sunny.", about="Weather in Paris"),
                        replace(_ask_weather("Rome"), about="Weather in Rome"),
                        Reply("Rome: 18C, sunny.", about="Weather in Rome"),
                        Reply("Both have 18C.", agent=COORDINATOR),
                    ),
                ),
            ),
            team="sub-agent",
        ),
        Scenario(
            "sub-agent-fails",
            (
                Question(
                    "Book a table for 4 guests in Oslo.",
                    (
                        _delegate("Oslo"),
                        Reply(calls=(Call("book_table", {"city": "Oslo", "guests": 4}),)),
                        Reply("No table is free."),
                        Reply("Sorry, no table is free in Oslo.", agent=COORDINATOR),
                    ),
                ),
            ),
            team="sub-agent",
        ),
        Scenario(
            "hand-over-turns",
            (
                Question(_PARIS, (_TO_WORKER, _ask_weather("Paris"), Reply(_SUNNY))),
                _HELLO,
            ),
            team="hand-over",
        ),
    )
}


def _join(name: str, *parts: str) -> None:
    """Add a scenario that is a conversation of the questions of several ones."""
    scenarios = [SCENARIOS[part] for part in parts]
    questions = tuple(asked for scenario in scenarios for asked in scenario.questions)
    tools = dict.fromkeys(tool for scenario in scenarios for tool in scenario.tools)
    SCENARIOS[name] = Scenario(name, questions, tuple(tools), team=scenarios[0].team)


_join(
    "many-turns",
    "preface",
    "same-twice",
    "repeated-calls",
    "other-languages",
    "json-texts",
    "mixed-turns",
)
_join("failures", "retry", "unknown-tool", "invalid-args", "empty-answer")
_join("sub-agents", "sub-agent-twice", "sub-agent-fails")


def resolve_hand_over(scenario: Scenario, hand_over: Mapping[str, Any] | None) -> Scenario:
    """Return the scenario with the framework's own call in place of `HAND_OVER`."""
    if hand_over is None:
        return scenario

    def resolve(call: Call) -> Call:
        if call.name != HAND_OVER:
            return call
        written = json.dumps(hand_over["args"])
        return Call(
            hand_over["name"], json.loads(written.replace("Paris", call.args.get("city", "Paris")))
        )

    def rewrite(reply: Reply) -> Reply:
        return replace(reply, calls=tuple(map(resolve, reply.calls)))

    questions = (
        replace(asked, replies=tuple(map(rewrite, asked.replies))) for asked in scenario.questions
    )
    return replace(scenario, questions=tuple(questions))


def tool_outcome(call: Call) -> tuple[Any, bool] | None:
    """Return what a tool returns, or the text that it raises, and whether it raises.

    `None` for the tools of a framework, and for calls that no tool can run.
    """
    tool = TOOLS.get(call.name.rpartition("__")[2])
    if tool is None or call.raw is not None:
        return None
    outcome = tool.get("result", tool.get("error"))
    return outcome.format(**call.args) if isinstance(outcome, str) else outcome, "error" in tool
