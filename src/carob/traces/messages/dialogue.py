"""A dialogue, told event by event → turns."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from carob.schema import Json, Message, ModelCall, ToolCall, ToolResult, Turn


@dataclass
class _Open:
    """The turn that is being told."""

    id: str | None = None
    user: list[str] = field(default_factory=list[str])
    said: list[Message] = field(default_factory=list[Message])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    places: dict[str, int] = field(default_factory=dict[str, int])
    """Where the calls are, by their ids."""
    results: list[ToolResult] = field(default_factory=list[ToolResult])
    models: list[ModelCall] = field(default_factory=list[ModelCall])
    agents: list[str] = field(default_factory=list[str])
    grounding: list[Json] = field(default_factory=list[Json])
    error: str | None = None
    unanswered: bool = False
    times: list[int] = field(default_factory=list[int])

    @property
    def answered(self) -> bool:
        return bool(self.user and (self.said or self.calls or self.results or self.error))

    @property
    def begun(self) -> bool:
        return bool(self.user or self.said or self.calls or self.results or self.error)


class Dialogue:
    """Takes down who said and did what, and cuts it into turns at the user's messages.

    What an agent says before the first user message belongs to the first turn.
    """

    def __init__(self) -> None:
        self._done: list[Turn] = []
        self._now = _Open()

    def begin(self, turn_id: str | None) -> None:
        """A new turn begins, whoever speaks first in it."""
        if self._now.begun:
            self._close()
        self._now.id = turn_id

    def user(self, text: str) -> None:
        """The user speaks: a new turn, unless nobody has answered the last message yet."""
        if self._now.answered:
            self._close()
        self._now.user.append(text)

    def say(self, agent: str, text: str) -> None:
        """An agent says something."""
        self._now.said.append(Message(agent=agent, text=text))

    def agent(self, name: str | None) -> None:
        """An agent has the word."""
        if name and self._now.agents[-1:] != [name]:
            self._now.agents.append(name)

    def call(self, call: ToolCall) -> None:
        """An agent calls a tool."""
        if call.id is not None:
            self._now.places[call.id] = len(self._now.calls)
        self._now.calls.append(call)

    def result(self, result: ToolResult, *, at: int | None = None) -> None:
        """A tool answers; a result that does not name its tool takes the name from the call."""
        place = self._now.places.get(result.id) if result.id is not None else None
        if place is not None:
            call = msgspec.structs.replace(self._now.calls[place], end=at)
            self._now.calls[place] = call
            if result.name is None:
                result = msgspec.structs.replace(result, name=call.name)
        self._now.results.append(result)

    def model(self, call: ModelCall) -> None:
        """A model was called."""
        self._now.models.append(call)

    def ground(self, chunks: list[Json]) -> None:
        """What the answer stands on was retrieved."""
        self._now.grounding.extend(chunks)

    def fail(self, error: str) -> None:
        """Something went wrong."""
        self._now.error = self._now.error or error

    def leave_unanswered(self) -> None:
        """No response was recorded: all that was said was on the way to it."""
        self._now.unanswered = True

    @property
    def last(self) -> str | None:
        """What was said last in this turn."""
        return self._now.said[-1].text if self._now.said else None

    def at(self, time: int | None) -> None:
        """It is this time now."""
        if time is not None:
            self._now.times.append(time)

    def turns(self) -> tuple[Turn, ...]:
        """Every turn so far."""
        return (*self._done, self._turn()) if self._now.begun else tuple(self._done)

    def _close(self) -> None:
        self._done.append(self._turn())
        self._now = _Open()

    def _turn(self) -> Turn:
        now = self._now
        final = None if now.unanswered or not now.said else now.said[-1]
        return Turn(
            id=now.id,
            user="\n".join(now.user) if now.user else None,
            response=final.text if final else None,
            messages=tuple(now.said[:-1] if final else now.said),
            tool_calls=tuple(now.calls),
            tool_results=tuple(now.results),
            agents=tuple(now.agents),
            model_calls=tuple(now.models),
            grounding=tuple(now.grounding) or None,
            error=now.error,
            start=min(now.times, default=None),
            end=max(now.times, default=None),
        )
