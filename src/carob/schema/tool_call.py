from __future__ import annotations

from carob.schema.noun import Json, Noun


class ToolCall(Noun, frozen=True):
    """A call of a tool: one that golden data expects, or one that an agent made."""

    name: str
    args: Json = None
    """`None` is "not stated" or "not recorded"; `{}` is a call without arguments."""
    id: str | None = None
    agent: str | None = None
    """The agent that makes the call, where it is known."""
    reason: str | None = None
    """Why golden data expects the call."""
    outcome: str | None = None
    """How the call went, in the recorder's own word."""
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None


class ToolResult(Noun, frozen=True):
    """What a tool answered."""

    name: str | None = None
    id: str | None = None
    result: Json = None
    error: str | None = None
