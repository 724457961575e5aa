"""The simulated user of a live run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from carob.api.judges import judge_pool
from carob.api.live_request import LiveRequest
from carob.errors import UsageError
from carob.metrics import JudgeClient, Ledger
from carob.schema import Case, JudgeSettings, SimulatorSpec
from carob.targets.conversation import User
from carob.targets.simulator import (
    NoSimulator,
    SimulatedUser,
    describe_simulator,
    needs_simulation,
)


def open_simulator(
    request: LiveRequest, cases: Iterable[Case], judge: JudgeSettings | None, answers: str | None
) -> Simulator:
    """Open the model that plays users, if any case needs one. Its messages are cached in the store
    `answers`."""
    if request.max_turns < 0:
        raise UsageError(f"invalid number of turns {request.max_turns}")
    if not any(map(needs_simulation, cases)):
        return Simulator(None, request.max_turns)
    # A pool of its own: judges run in another event loop, and connections belong to one.
    pool = judge_pool(judge, answers)
    return Simulator(pool.client_of(request.simulator), request.max_turns)


class Simulator:
    """Plays the users of all conversation scenarios of a run."""

    def __init__(self, client: JudgeClient | None, max_turns: int) -> None:
        self._client, self._max_turns = client, max_turns
        self._ledger = Ledger()

    def describe(self) -> SimulatorSpec | None:
        """Return the description that the run records."""
        return describe_simulator(self._client, self._max_turns) if self._client else None

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
            max_turns=self._max_turns,
            seed=seed,
            ledger=self._ledger,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client:
            await self._client.close()
