"""The simulated user of a live run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from carob.api.live_request import LiveRequest
from carob.api.running.judges import judge_pool
from carob.errors import UsageError
from carob.judges.rubrics.adk import qualify_model
from carob.metrics import JudgeClient, Ledger
from carob.schema import Case, JudgeSettings, Problem, SimulatorSettings, SimulatorSpec
from carob.schema.problem import ProblemListener
from carob.targets.conversation import User
from carob.targets.simulator import (
    MAX_TURNS,
    NoSimulator,
    SimulatedUser,
    SimulatorRules,
    describe_simulator,
    needs_simulation,
)
from carob.targets.simulator_prompt import PromptTemplate, read_persona


def open_simulator(
    request: LiveRequest,
    cases: Iterable[Case],
    judge: JudgeSettings | None,
    users: SimulatorSettings,
    answers: str | None,
    report: ProblemListener,
) -> Simulator:
    """Open the model that plays users, if any case needs one. Its messages are cached in the store
    `answers`. Raises `UsageError` for settings that cannot be followed."""
    simulated = [case for case in cases if needs_simulation(case)]
    if not simulated:
        return Simulator(None, users, SimulatorRules())
    if users.kind != "llm_backed":
        hint = "only users who write are played: llm_backed"
        raise UsageError(f"user_simulator_config: unsupported type {users.kind!r}", hint=hint)
    for name in users.other:
        message = f"user_simulator_config: {name} has no effect"
        report(Problem(where="the simulated user", message=message, severity="warning"))
    limits = (request.max_turns, users.max_turns, MAX_TURNS)
    rules = SimulatorRules(
        max_turns=next(limit for limit in limits if limit is not None),
        template=_open_template(users, simulated),
        with_calls=users.with_calls,
    )
    # A pool of its own: judges run in another event loop, and connections belong to one.
    pool = judge_pool(_model_settings(judge, users), answers)
    return Simulator(pool.client_of(request.simulator or _own_model(users)), users, rules)


def _open_template(users: SimulatorSettings, cases: Iterable[Case]) -> PromptTemplate | None:
    if users.instructions is None:
        return None
    template = PromptTemplate(users.instructions)
    personas = (case.scenario and read_persona(case.scenario.persona) for case in cases)
    template.check(with_persona=any(personas))
    return template


def _own_model(users: SimulatorSettings) -> str | None:
    try:
        return qualify_model(users.model) if users.model else None
    except ValueError as error:
        raise UsageError(f"user_simulator_config: {error}") from error


def _model_settings(judge: JudgeSettings | None, users: SimulatorSettings) -> JudgeSettings | None:
    """Return the settings of the judge with what the simulator's own say otherwise."""
    own = {"temperature": users.temperature, "max_tokens": users.max_tokens}
    changes = {name: value for name, value in own.items() if value is not None}
    return msgspec.structs.replace(judge or JudgeSettings(), **changes) if changes else judge


class Simulator:
    """Plays the users of all conversation scenarios of a run."""

    def __init__(
        self, client: JudgeClient | None, settings: SimulatorSettings, rules: SimulatorRules
    ) -> None:
        self._client, self._settings, self._rules = client, settings, rules
        self._ledger = Ledger()

    def describe(self) -> SimulatorSpec | None:
        """Return the description that the run records."""
        if self._client is None:
            return None
        return describe_simulator(self._client, self._settings, self._rules.max_turns)

    def spent(self) -> float:
        """Return the cost so far in US dollars, as far as it is known."""
        return self._ledger.judge_usage().cost or 0.0

    def user_of(self, case: Case, seed: int) -> Callable[[], User] | None:
        """Return what makes the user of an attempt; `None` for a case with fixed turns."""
        if not needs_simulation(case) or case.scenario is None:
            return None
        if self._client is None:
            return NoSimulator
        return partial(
            SimulatedUser,
            case.scenario,
            self._client,
            rules=self._rules,
            seed=seed,
            ledger=self._ledger,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client:
            await self._client.close()
