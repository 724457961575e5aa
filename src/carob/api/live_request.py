"""The part of a request for a run that is about a live agent."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

import msgspec

from carob.schema import Json, MissPolicy

# A module of its own, because asking agents imports asyncio, which every run would pay for.


class LiveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller asks of a live run."""

    target: Any
    """A name such as `python:agent.py:answer`, settings, flags on top of the config's target, or
    Python code: a function, a class or a `Target`."""
    concurrency: int | None = None
    """Maximum concurrent conversations; as the next two, overrides the settings of the target."""
    turn_timeout: float | None = None
    case_timeout: float | None = None
    repeat: int = 1
    """Attempts at each case."""
    seed: int = 0
    state: Mapping[str, Json] = {}
    """Changes of the initial state of every case."""
    mocks: PathLike[str] | str | None = None
    """Where the results of tool calls come from: `golden`, or a file. The real tools run without
    it."""
    on_miss: MissPolicy = "error"
    """What a tool call without a recorded result gets."""
    record: PathLike[str] | str | None = None
    """A file for the results of all tool calls, to be used as `mocks` later."""
    simulator: str | None = None
    """The model that plays the user of conversation scenarios; the judge by default."""
    max_turns: int | None = None
    """Turns of a simulated conversation; negative for no limit, `None` for that of the config or
    20."""
    span_wait: float | None = None
    """Seconds to wait for the spans of each conversation, which arrive in this process or at the
    receiver of `carob serve`. Without it, spans are not joined."""
    max_time: float | None = None
    """Seconds for all conversations."""
    max_cost: float | None = None
    """US dollars for the agent and the simulated user."""
