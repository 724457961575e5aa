from __future__ import annotations

from carob.schema.noun import Json, Noun
from carob.schema.span import Span
from carob.schema.turn import Turn
from carob.schema.usage import ModelCall, Usage


class Trace(Noun, frozen=True):
    """What the agent did in one session."""

    id: str
    turns: tuple[Turn, ...] = ()
    source: str | None = None
    """The file that it was read from."""
    convention: str | None = None
    """The semantic convention that the recorder spoke."""
    mapper: str | None = None
    """The version of the mapping that read it, such as `adk@1`."""
    conversation: str | None = None
    """The conversation id that groups recordings into a session."""
    case: str | None = None
    """The golden case that the recording says it belongs to."""
    state: dict[str, Json] | None = None
    """The session state at the end."""
    sources: dict[str, str] = {}
    """Which attribute answered for which field."""
    attributes: dict[str, Json] = {}
    """What else was recorded, under the recorder's own names."""
    spans: tuple[Span, ...] = ()

    @property
    def model_calls(self) -> tuple[ModelCall, ...]:
        return tuple(call for turn in self.turns for call in turn.model_calls)

    @property
    def models(self) -> tuple[str, ...]:
        """The models in the order of their first call."""
        return tuple(dict.fromkeys(call.model for call in self.model_calls if call.model))

    @property
    def agents(self) -> tuple[str, ...]:
        """The agents in the order of their first turn."""
        return tuple(dict.fromkeys(agent for turn in self.turns for agent in turn.agents))

    @property
    def usage(self) -> Usage:
        return Usage.total(call.usage for call in self.model_calls)

    @property
    def duration_ms(self) -> float | None:
        """From the start of the first turn to the end of the last; `None` if not recorded."""
        starts = [turn.start for turn in self.turns if turn.start is not None]
        ends = [turn.end for turn in self.turns if turn.end is not None]
        return (max(ends) - min(starts)) / 1e6 if starts and ends else None
