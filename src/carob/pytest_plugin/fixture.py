"""A golden case, as a test has it in hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

import pytest

from carob.api.testing import Answer, Scores, Suite
from carob.pytest_plugin.arguments import Arguments
from carob.schema import Case, CaseResult, Trace


@dataclass(frozen=True)
class Given:
    """What a test is about: a case, and how it is asked for."""

    suite: Suite
    asked: Arguments
    case: Case


class Golden:
    """A golden case in a test: what is asked, and a check of what the agent answers."""

    def __init__(self, given: Given, node: str) -> None:
        self.case = given.case
        self.suite = given.suite
        self.results: list[CaseResult] = []
        """What has been scored so far."""
        self.told = False
        """Whether the failure says why."""
        self._asked, self._node = given.asked, node

    def __repr__(self) -> str:
        return f"<Golden {self.case.id!r}>"

    @property
    def user(self) -> str:
        """The first message of the user."""
        scenario = self.case.scenario
        return self.users[0] if self.users else scenario.prompt if scenario else ""

    @property
    def users(self) -> tuple[str, ...]:
        """The messages of the user, turn by turn."""
        return tuple(turn.user or "" for turn in self.case.turns)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """What was recorded for the case."""
        return self.suite.recordings(self.case)

    def score(self, answer: Answer) -> Scores:
        """What the metrics say of an answer; `golden.score(answer)["latency"]` is a number."""
        number = f"#{len(self.results) + 1}" if self.results else ""
        scores = self.suite.score(
            self.case, answer, id=f"{self._node}{number}", how="the answer of the test"
        )
        self.results.append(scores.result)
        return scores

    def check(self, *answers: Answer) -> None:
        """The test fails unless every answer passes, and says why. Without an answer, the target is
        asked, or the recordings are scored."""
        __tracebackhide__ = True
        text = self._trouble(answers)
        if text:
            raise AssertionError(text)

    def finish(self) -> None:
        """At the end of the test: a case that was not scored did not pass."""
        __tracebackhide__ = True
        text = None if self.results else self._trouble(())
        if text:
            pytest.fail(text, pytrace=False)
        if all(one.status == "unscored" for one in self.results):
            _skip(self.results[0])

    def unanswered(self, status: Literal["unscored", "error"], why: str) -> CaseResult:
        """The result of a test in which nothing was scored."""
        return self.suite.nothing(self.case, status, why)

    def _trouble(self, answers: tuple[Answer, ...]) -> str:
        scored = [self.score(one) for one in answers] if answers else self._own()
        fine = ("passed", "unscored") if self._asked.allow_unscored else ("passed",)
        troubled = [one for one in scored if one.result.status not in fine]
        self.told = bool(troubled)
        return "\n\n".join(map(self._text, troubled))

    def _text(self, one: Scores) -> str:
        """Recordings that belong to no case may be the ones that are missing."""
        lost = self.suite.recorded.unmatched if one.result.trace is None else ()
        lines = [f"  trace {other.trace}: {other.why}" for other in lost[:_SHOWN]]
        return "\n".join([one.text, *lines])

    def _own(self) -> list[Scores]:
        if self._asked.target:
            return [self.score(self._asked.target(self.case))]
        if self.suite.traces or self.suite.recorded.pairs:
            found = self.suite.score_recordings(self.case)
        else:
            found = (Scores(self.unanswered("unscored", "the test gave no answer")),)
        self.results += [one.result for one in found]
        return [*found]


_SHOWN = 5


def _skip(result: CaseResult) -> NoReturn:
    why = "; ".join(f"{one.metric}: {one.reason}" for one in result.scores) or result.paired_by
    pytest.skip(f"unscored: {why}")
