"""A garden shop's agent as plain functions and classes, for tests of live runs."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

PRICES = {"hose": 19, "rake": 25}
CALLS: list[str] = []
"""The messages that were received, in order."""


def answer(message: str) -> str:
    """The smallest agent."""
    CALLS.append(message)
    item = next((name for name in PRICES if name in message.lower()), None)
    return f"The {item} costs {PRICES[item]} euros." if item else "What are you looking for?"


def find_price(item: str) -> int:
    return PRICES[item]


async def answer_async(message: str, conversation: Any) -> dict[str, Any]:
    """An agent with tools, state and usage."""
    await asyncio.sleep(0)
    item = next((name for name in PRICES if name in message.lower()), "hose")
    result = conversation.call_tool("find_price", {"item": item}, find_price)
    conversation.state["asked"] = conversation.state.get("asked", 0) + 1
    return {
        "response": f"The {item} costs {result} euros.",
        "tool_calls": [{"name": "find_price", "args": {"item": item}}],
        "tool_results": [{"name": "find_price", "result": result}],
        "model": "gpt-5-mini",
        "usage": {"input_tokens": 100, "output_tokens": 10},
    }


class Clerk:
    """Remembers the conversation."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def answer(self, message: str) -> str:
        self.heard.append(message)
        return f"{len(self.heard)}: {message}"


def answer_case(case: Any) -> list[str]:
    """Answers all turns at once, as the pytest marker's target does."""
    return [f"answer to {turn.user}" for turn in case.turns]


def break_on_rake(message: str) -> str:
    if "rake" in message.lower():
        raise ValueError("the rake broke")
    return answer(message)


def sleep_forever(message: str) -> str:
    threading.Event().wait(60)
    return message


def answer_slowly(message: str) -> str:
    time.sleep(0.05)
    return answer(message)


ATTEMPTS: dict[str, int] = {}


def answer_every_other(message: str) -> str:
    """Right at the first, third, … attempt."""
    ATTEMPTS[message] = ATTEMPTS.get(message, 0) + 1
    return answer(message) if ATTEMPTS[message] % 2 else "I do not know."
