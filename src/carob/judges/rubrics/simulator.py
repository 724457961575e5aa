"""The judge of simulated users."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from carob.judges.rubrics.aggregate import Rated, Rating, Trouble, together
from carob.judges.rubrics.fence import Fenced
from carob.judges.rubrics.subject import Subject
from carob.judges.rubrics.yes_no import VerdictJudge
from carob.metrics import Ask, Outcome
from carob.metrics.turns import TurnPair
from carob.schema import Case, Trace, Turn, Unscored


@dataclass(frozen=True, kw_only=True)
class SimulatorJudge(VerdictJudge):
    """The first message must be the scenario's own; each other one is judged, and so is that the
    conversation ended where it did: if that was wrong, the last turn is."""

    stop_signal: str = "</finished>"

    async def judge(self, case: Case, trace: Trace, ask: Ask) -> Outcome:
        import asyncio  # late: who only lists metrics asks nobody

        if case.scenario is None:
            return Unscored(reason="the case has no scenario")
        if not trace.turns or trace.turns[0].user is None:
            return Unscored(reason="no user message was recorded")
        end = Turn(user=self.stop_signal)
        said = [*trace.turns[1:], end]
        subjects = [Subject(case, trace, TurnPair(n, None, turn)) for n, turn in enumerate(said, 2)]
        *others, ended = await asyncio.gather(*[self.rate(subject, ask) for subject in subjects])
        first = _first(trace.turns[0].user, case.scenario.prompt)
        return together(_with_end([first, *others], ended), by_turn=True)

    def _material(
        self, subject: Subject, more: Iterable[tuple[str, str]] = ()
    ) -> Fenced | Unscored:
        return super()._material(subject, [("stop_signal", self.stop_signal), *more])

    def _own_parts(self) -> Iterable[tuple[str, str]]:
        return [("stop_signal", "what the user writes to end the conversation")]


def _first(said: str, prompt: str) -> Rated:
    same = said.strip() == prompt.strip()
    reason = "" if same else "the first message is not the scenario's"
    return Rated(points=float(same), reason=reason)


def _with_end(ratings: list[Rating], ended: Rating) -> list[Rating]:
    """The turns, the last of which is wrong if the conversation ended there and should not."""
    if isinstance(ended, Trouble):
        return [*ratings, ended]
    if not isinstance(ended, Rated) or ended.points:
        return ratings
    reason = f"the conversation should not have ended here: {ended.reason}"
    return [*ratings[:-1], replace(ended, reason=reason)]
