from __future__ import annotations

from carob.schema.noun import Json, Noun
from carob.schema.rubric import Rubric
from carob.schema.tool_call import ToolCall, ToolResult
from carob.schema.usage import ModelCall


class Message(Noun, frozen=True):
    """What an agent said on the way to the response."""

    agent: str
    text: str


class Turn(Noun, frozen=True):
    """One user message and what should follow it, or what did.

    `None` is "not stated" in golden data and "not recorded" in a trace; empty is empty.
    """

    user: str | None = None
    response: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    tool_results: tuple[ToolResult, ...] = ()
    messages: tuple[Message, ...] = ()
    agents: tuple[str, ...] = ()
    """The agents in the order in which they took over; an agent that comes back is named again."""
    id: str | None = None
    rubrics: tuple[Rubric, ...] = ()
    app: dict[str, Json] | None = None
    """The agents' instructions and tool declarations, by agent name."""
    model_calls: tuple[ModelCall, ...] = ()
    grounding: tuple[Json, ...] | None = None
    """The chunks of retrieved text that the response stands on."""
    error: str | None = None
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None
