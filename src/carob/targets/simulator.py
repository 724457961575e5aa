"""A simulated user, who follows the plan of a conversation scenario as ADK's user simulator does.

The starting prompt is said verbatim; every later message is asked of a model, through the judge
client with its cache, budget and retries. The model ends the conversation with a stop signal.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

import msgspec

from carob.metrics import Answer, JudgeClient, Ledger, Question
from carob.schema import Case, Failed, Json, Scenario, SimulatorSpec, Struct, Turn, Unscored
from carob.targets.target import TargetError
from carob.traces.shape import as_array, objects_in

MAX_TURNS = 20
"""ADK's limit of a conversation."""
STOP = "</finished>"
_INSTRUCTIONS = f"""\
You play the user of an AI agent in a test. You write the user's next message, and nothing else.

How the user behaves:
- React to the agent's last message. Answer a question that it asks, only what is asked, and only
  with what the conversation plan says. What the plan does not say, the user does not know.
- When the current request is met, make the next request of the plan. Make one request at a time.
- When the agent gets something wrong, correct it once. If it fails a second time, give up.
- Never do the agent's work, and never mention the plan or that this is a test.

When everything in the plan is done, when the user has given up, or when the agent hands the
conversation over to a human, write {STOP} instead of a message."""
_PERSONAS = {
    "EXPERT": "The user knows the subject well, states precisely what is needed, gives several "
    "details at once, and wants no explanations of basics.",
    "NOVICE": "The user is new to the subject, uses everyday words, gives details only when asked, "
    "and asks what a term means that the agent does not explain.",
    "EVALUATOR": "The user tests the agent: follows the plan exactly, checks each answer against "
    "it, and is neither helpful nor chatty.",
}
"""What the predefined personas of ADK stand for."""


class UserMessage(Struct, frozen=True):
    """What the user says next."""

    message: str


class SimulatedUser:
    """Plays the user of one conversation."""

    def __init__(
        self, scenario: Scenario, client: JudgeClient, *, max_turns: int, seed: int, ledger: Ledger
    ) -> None:
        self.end_reason: str | None = None
        self._scenario, self._client, self._ledger = scenario, client, ledger
        self._max_turns, self._seed = max_turns, seed

    async def next_message(self, turns: Sequence[Turn]) -> str | None:
        """Return the next message. The limit is checked first, then the starting prompt is said."""
        if len(turns) >= self._max_turns:
            self.end_reason = "turn_limit_reached"
            return None
        if not turns:
            return self._scenario.prompt
        question = Question(
            instructions=_INSTRUCTIONS,
            prompt=write_prompt(self._scenario, turns),
            answer=UserMessage,
            sample=self._seed,
        )
        answer = await self._client.ask(question, self._ledger)
        if not isinstance(answer, Answer):
            raise _no_message(answer)
        message = answer.value.message
        if STOP in message.lower():  # dropped whole, whatever else the message says
            self.end_reason = "stop_signal_detected"
            return None
        if not message.strip():
            raise TargetError("user", "the simulated user said nothing")
        return message


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


def write_prompt(scenario: Scenario, turns: Sequence[Turn]) -> str:
    """Return the plan, the persona and the conversation so far."""
    parts = [f"# Conversation plan\n{scenario.plan}"]
    persona = describe_persona(scenario.persona)
    if persona:
        parts.append(f"# Persona\n{persona}")
    parts.append(f"# Conversation so far\n{write_history(turns)}")
    parts.append("# The user's next message")
    return "\n\n".join(parts)


def write_history(turns: Sequence[Turn]) -> str:
    """Return what was said as `author: text` paragraphs. Tool calls and thoughts are not shown."""
    paragraphs: list[str] = []
    for turn in turns:
        agent = turn.agents[-1] if turn.agents else "agent"
        paragraphs.append(f"user: {turn.user or ''}")
        paragraphs += [f"{message.agent or agent}: {message.text}" for message in turn.messages]
        if turn.response is not None:
            paragraphs.append(f"{agent}: {turn.response}")
    return "\n\n".join(paragraphs)


def describe_persona(persona: Json) -> str:
    """Return the description of a persona: a predefined name, free text, or ADK's object."""
    if isinstance(persona, str):
        return _PERSONAS.get(persona, persona)
    if not isinstance(persona, dict):
        return ""
    lines = [str(persona.get("description") or persona.get("id") or "")]
    for behavior in objects_in(persona.get("behaviors")):
        lines.append(f"\n## {behavior.get('name', '')}\n{behavior.get('description', '')}")
        lines += [f"- {rule}" for rule in as_array(behavior.get("behavior_instructions"))]
    return "\n".join(lines).strip()


def describe_simulator(client: JudgeClient, max_turns: int) -> SimulatorSpec:
    """Return the description of the simulator that a run records."""
    texts = msgspec.json.encode([_INSTRUCTIONS, _PERSONAS, STOP], order="deterministic")
    return SimulatorSpec(
        model=client.model,
        params=dict(client.params),
        prompt=f"sha256:{sha256(texts).hexdigest()}",
        max_turns=max_turns,
    )
