"""A simulated user, who follows the plan of a conversation scenario as ADK's user simulator does.

The starting prompt is said verbatim; every later message is asked of a model, through the judge
client with its cache, budget and retries. The model ends the conversation with a stop signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from carob.metrics import Answer, JudgeClient, Ledger, Question
from carob.schema import (
    Case,
    Failed,
    Json,
    Scenario,
    SimulatorSettings,
    SimulatorSpec,
    Struct,
    Turn,
    Unscored,
)
from carob.targets.simulator_prompt import (
    CUSTOM_INSTRUCTIONS,
    INSTRUCTIONS,
    PERSONAS,
    STOP,
    PromptTemplate,
    write_history,
    write_prompt,
)
from carob.targets.target import TargetError

MAX_TURNS = 20
"""ADK's limit of a conversation."""


class UserMessage(Struct, frozen=True):
    """What the user says next."""

    message: str


@dataclass(frozen=True, kw_only=True)
class SimulatorRules:
    """How users are played, for all conversations of a run."""

    max_turns: int = MAX_TURNS
    """Messages of the user, the starting prompt included. Negative for no limit."""
    template: PromptTemplate | None = None
    """The custom instructions of the user."""
    with_calls: bool = False
    """Whether the simulated user sees tool calls and their results."""

    def write_question(self, scenario: Scenario, turns: Sequence[Turn]) -> tuple[str, str]:
        """Return the instructions and the prompt for the next message. Raises `TargetError`."""
        history = write_history(turns, with_calls=self.with_calls)
        if self.template is None:
            return INSTRUCTIONS, write_prompt(scenario, history)
        try:
            return CUSTOM_INSTRUCTIONS, self.template.write(scenario, history)
        except ValueError as error:
            raise TargetError("user", str(error)) from error


class SimulatedUser:
    """Plays the user of one conversation."""

    def __init__(
        self,
        scenario: Scenario,
        client: JudgeClient,
        *,
        rules: SimulatorRules,
        seed: int,
        ledger: Ledger,
    ) -> None:
        self.end_reason: str | None = None
        self._scenario, self._client, self._ledger = scenario, client, ledger
        self._rules, self._seed = rules, seed

    async def next_message(self, turns: Sequence[Turn]) -> str | None:
        """Return the next message. The limit is checked first, then the starting prompt is said."""
        if 0 <= self._rules.max_turns <= len(turns):
            self.end_reason = "turn_limit_reached"
            return None
        message = await self._ask(turns) if turns else self._scenario.prompt
        if STOP in message.lower():  # dropped whole, whatever else the message says
            self.end_reason = "stop_signal_detected"
            return None
        if not message:
            raise TargetError("user", "the simulated user said nothing")
        return message

    async def _ask(self, turns: Sequence[Turn]) -> str:
        instructions, prompt = self._rules.write_question(self._scenario, turns)
        question = Question(
            instructions=instructions,
            prompt=prompt,
            answer=UserMessage,
            plain="message",
            sample=self._seed,
        )
        answer = await self._client.ask(question, self._ledger)
        if not isinstance(answer, Answer):
            raise _no_message(answer)
        return answer.value.message


class NoSimulator:
    """The user of a scenario without a model to play it."""

    end_reason: str | None = None

    async def next_message(self, turns: Sequence[Turn]) -> str | None:
        """Raise the reason why nothing can be said."""
        message = "the case needs a simulated user: name a model with --simulator PROVIDER:MODEL"
        raise TargetError("user", message, reached=False)


def _no_message(outcome: Unscored | Failed) -> TargetError:
    if isinstance(outcome, Unscored):
        return TargetError("user", f"the simulated user: {outcome.reason}")
    return TargetError("user", f"the simulated user: {outcome.kind}: {outcome.message}")


def needs_simulation(case: Case) -> bool:
    """Whether a case has a scenario instead of turns."""
    return not case.turns and case.scenario is not None


def describe_simulator(
    client: JudgeClient, settings: SimulatorSettings, max_turns: int
) -> SimulatorSpec:
    """Return the description of the simulator that a run records."""
    own = settings.instructions
    texts = [CUSTOM_INSTRUCTIONS, own] if own is not None else [INSTRUCTIONS]
    content = msgspec.json.encode([*texts, PERSONAS, STOP], order="deterministic")
    params: dict[str, Json] = {**client.params, **settings.other}
    if settings.with_calls:
        params["include_function_calls"] = True
    return SimulatorSpec(
        model=client.model,
        params=params,
        prompt=f"sha256:{sha256(content).hexdigest()}",
        max_turns=max_turns,
    )
