"""The options of `carob run` for live agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
import msgspec

from carob import api
from carob.cli.options import option, parse_pairs

F = TypeVar("F", bound=Callable[..., object])
_SECONDS = click.FloatRange(min=0, min_open=True)

_OPTIONS = (
    option(
        "--filter",
        "filters",
        multiple=True,
        metavar="KEY:VALUE,…",
        help="Select cases whose metadata has one of these values. Repeatable.",
    ),
    option(
        "--sample",
        metavar="N",
        type=click.IntRange(min=1),
        help="Draw N of the selected cases at random; --seed determines which.",
    ),
    option(
        "--stratify",
        metavar="KEY",
        help="Draw each value of a metadata key, or each `tag`, with its share.",
    ),
    option(
        "--progress",
        type=click.Choice(["line", "json"]),
        default="line",
        show_default=True,
        help="Show the progress of a live run as a line, or as JSON lines on stderr.",
    ),
    option(
        "--target",
        metavar="SCHEME:REST",
        help="Live agent to ask, such as python:agent.py:answer, or a name in [targets].",
        show_default="`target` in carob.toml",
    ),
    option("--target-url", metavar="URL", help="Base URL of the API for chat: and responses:."),
    option(
        "--target-key-env",
        metavar="NAME",
        help="Environment variable with the bearer token for the target.",
    ),
    option(
        "--target-header",
        "target_headers",
        multiple=True,
        metavar="HEADER=NAME",
        help="Header of requests to the target, from an environment variable. Repeatable.",
    ),
    option(
        "--repeat",
        metavar="N",
        type=click.IntRange(1, 10_000),
        default=1,
        show_default=True,
        help="Attempts of the live agent at each case.",
    ),
    option(
        "--seed",
        metavar="N",
        type=int,
        default=0,
        show_default=True,
        help="Seed of a live run and of --sample.",
    ),
    option(
        "--state",
        "states",
        multiple=True,
        metavar="KEY=VALUE",
        help="Change of the initial session state of every case. Repeatable.",
    ),
    option(
        "--simulator",
        metavar="PROVIDER:MODEL",
        help="Model that plays the user of conversation scenarios.",
        show_default="the judge",
    ),
    option(
        "--max-turns",
        metavar="N",
        type=click.IntRange(min=0),
        show_default="20",
        help="Maximum turns of a simulated conversation.",
    ),
    option(
        "--mocks",
        metavar="golden|FILE",
        help="Answer tool calls with recorded results instead of running the tools.",
    ),
    option(
        "--on-miss",
        type=click.Choice(["error", "live", "by-name", "stop"]),
        default="error",
        show_default=True,
        help="What a tool call without a recorded result gets.",
    ),
    option(
        "--record",
        metavar="FILE",
        type=click.Path(dir_okay=False),
        help="Write the results of all tool calls to a file for --mocks.",
    ),
    option(
        "--turn-timeout",
        metavar="SECONDS",
        type=_SECONDS,
        help="Time limit of one turn.",
        show_default="120",
    ),
    option(
        "--case-timeout",
        metavar="SECONDS",
        type=_SECONDS,
        help="Time limit of one conversation.",
        show_default="600",
    ),
    option(
        "--span-wait",
        metavar="SECONDS",
        type=_SECONDS,
        help="Join the agent's spans, and wait this long for them after a conversation.",
    ),
    option("--max-time", metavar="SECONDS", type=_SECONDS, help="Time limit of all conversations."),
    option(
        "--retry",
        is_flag=True,
        help="Hold a conversation that broke off again, in a new session: tools may run twice.",
    ),
)


def live_options(function: F) -> F:
    """Add the options for live agents."""
    for decorate in reversed(_OPTIONS):
        function = decorate(function)
    return function


def live_request(
    options: dict[str, Any], concurrency: int | None, max_cost: float | None
) -> api.live_request.LiveRequest | None:
    """Return the request for a live run; `None` if no option asks for one."""
    flags = {
        "name": options["target"],
        "url": options["target_url"],
        "key_env": options["target_key_env"],
        "headers": parse_pairs(options["target_headers"], "--target-header") or None,
        "retry": options["retry"] or None,
    }
    own = (
        *("repeat", "mocks", "record", "simulator", "span_wait"),
        *("turn_timeout", "case_timeout", "max_time"),
    )
    asked = any(flags.values()) or options["states"]
    if not asked and all(options[name] in (None, 1) for name in own):
        return None
    return api.live_request.LiveRequest(
        target=flags,
        state={
            key: _parse_value(text)
            for key, text in parse_pairs(options["states"], "--state", "KEY=VALUE").items()
        },
        concurrency=concurrency,
        max_cost=max_cost,
        on_miss=options["on_miss"],
        max_turns=options["max_turns"],
        seed=options["seed"],
        **{name: options[name] for name in own},
    )


def _parse_value(text: str) -> Any:
    """Parse a value of the state as JSON. Text that is not JSON is a string."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
