"""Live agents: where they are, how a run holds conversations with them, and what a run records."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Json, Struct
from carob.schema.trust import SensitiveSetting

MissPolicy = Literal["error", "live", "by-name", "stop"]
"""What a tool call without a recorded result gets: a tool error, the real tool, any recorded result
of the tool, or the end of the conversation."""


class TargetSettings(Struct, frozen=True):
    """A live agent. Keys are never included: they come from the environment."""

    name: str = ""
    """Scheme and rest, such as `python:agent.py:answer` or `adk:http://127.0.0.1:8000/shop`."""
    url: str | None = None
    """The base URL of the API that serves the model of `chat:` and `responses:`."""
    key_env: str | None = None
    """The environment variable with the bearer token."""
    headers: dict[str, str] = {}
    """Further headers of each request: the environment variable with the value of each."""
    options: dict[str, Json] = {}
    """Further settings, which depend on the scheme."""
    turn_timeout: float = 120.0
    """Seconds that one turn may take."""
    case_timeout: float = 600.0
    """Seconds that one conversation may take."""
    concurrency: int = 8
    """Maximum concurrent conversations."""
    retry: bool = False
    """Whether a conversation that broke off may be held again, in a new session: its tools then
    run twice."""
    withheld: tuple[SensitiveSetting, ...] = ()
    """Settings of a file that the user has not trusted. Without them the target is unusable."""
    source: str = ""
    """The file with the withheld settings."""


class SimulatorSettings(Struct, frozen=True):
    """How the users of conversation scenarios are played: ADK's `user_simulator_config`."""

    kind: str = "llm_backed"
    model: str | None = None
    """The model as it is written; `None` for the judge."""
    temperature: float | None = None
    max_tokens: int | None = None
    max_turns: int | None = None
    """Messages of the user, the starting prompt included; negative for no limit, `None` for 20."""
    instructions: str | None = None
    """A Jinja template in place of the default prompt."""
    with_calls: bool = False
    """Whether the simulated user sees tool calls and their results."""
    other: dict[str, Json] = {}
    """Settings that have no effect here. They are part of the fingerprint."""


class SimulatorSpec(Struct, frozen=True, omit_defaults=False):
    """The simulated user of a run. Scores of different simulators are not comparable."""

    model: str
    params: dict[str, Json]
    prompt: str
    """The digest of the prompt around plan and history."""
    max_turns: int


class MockSpec(Struct, frozen=True, omit_defaults=False):
    """The tool mocks of a run."""

    source: str
    """`golden`, or the name of the file."""
    digest: str
    on_miss: MissPolicy


class RunTarget(Struct, frozen=True, omit_defaults=False):
    """The live agent of a run, and how it was asked. Part of the fingerprint of the run."""

    name: str
    params: dict[str, Json]
    repeat: int
    seed: int
    simulator: SimulatorSpec | None = None
    mocks: MockSpec | None = None


class LiveEvent(Struct, frozen=True, omit_defaults=False):
    """One more attempt of a live run is finished, and where the run stands."""

    case: str
    attempt: int
    error: str | None
    """Why the conversation failed; `None` if it was recorded."""
    turns: int
    duration_ms: float
    done: int
    """Finished attempts, including those of an earlier run that is resumed."""
    total: int
    failed: int
    cost: float | None
    """Cost of the agent and the simulated user so far, in US dollars; `None` if it is unknown."""
    eta_s: float | None
    """Seconds until all attempts are finished, by the pace so far."""
