"""Texts that frameworks write in somebody else's name, or put around the words of the user."""

from __future__ import annotations

import re

_TASK = re.compile(
    r"\s*Current Task: (?P<task>.*?)\s*"
    r"(?:\n\nThis is the expected criteria for your final answer:.*)?",
    re.DOTALL,
)
_PREFIXES = ("New task:\n", "Your task: ")
_MANAGED = "You're a helpful agent named '"
_FIRST_WORDS = (*_PREFIXES, _MANAGED)
_CONTEXT = "For context:"
_OBSERVATION = "Observation:\n"
_SPEAKER = "assistant: "
_HAND_OVERS = ("Transferring back to ", "Transferring to ")
_LIMIT = 100_000
"""Longer texts are not searched for a frame."""


def unframe_user(text: str) -> str | None:
    """Return the user's words without what CrewAI, smolagents or BeeAI puts around them.

    Returns `None` if there is nothing of the user in it: what smolagents tells an agent that works
    for another one.
    """
    if text.startswith(_FIRST_WORDS):
        for prefix in _PREFIXES:
            text = text.removeprefix(prefix)
        if text.startswith(_MANAGED):
            return None
    if "Current Task: " not in text[:20] or len(text) > _LIMIT:
        return text
    match = _TASK.fullmatch(text)
    return match["task"] if match else text


def is_context(text: str) -> bool:
    """Whether ADK tells an agent what another one said, in the name of the user."""
    return text.startswith(_CONTEXT)


def unframe_answer(text: str) -> str:
    """Return an answer without the speaker that LlamaIndex prints before it."""
    return text.removeprefix(_SPEAKER)


def is_observation(text: str) -> bool:
    """Whether smolagents tells the model the results of all calls of a step in one text."""
    return text.startswith(_OBSERVATION)


def is_hand_over(text: str) -> bool:
    """Whether LangGraph's supervisor says in an agent's name that another one goes on."""
    return text.startswith(_HAND_OVERS)
