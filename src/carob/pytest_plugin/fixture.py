"""The fixture `golden`: a golden case in a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NoReturn

import pytest

from carob.api.testing import Answer, Scores, Suite
from carob.pytest_plugin.arguments import Arguments
from carob.report.run import WHY_INFORMATIONAL
from carob.schema import Case, CaseResult, Trace

_SHOWN = 5
"""Unmatched traces that a failure lists."""


@dataclass(frozen=True)
class GoldenTest:
    """The case of one test, with its suite and the arguments of its marker."""

    suite: Suite
    arguments: Arguments
    case: Case


class Golden:
    """A golden case in a test, with checks of the agent's answers."""

    def __init__(self, test: GoldenTest, node: str) -> None:
        self.case = test.case
        self.suite = test.suite
        self.results: list[CaseResult] = []
        """The results so far."""
        self.explained = False
        """Whether the failure message contains the reasons."""
        self._arguments, self._node = test.arguments, node
        self._checked = False

    def __repr__(self) -> str:
        return f"<Golden {self.case.id!r}>"

    @property
    def user(self) -> str:
        """The first user message."""
        scenario = self.case.scenario
        return self.users[0] if self.users else scenario.prompt if scenario else ""

    @property
    def users(self) -> tuple[str, ...]:
        """The user messages, turn by turn."""
        return tuple(turn.user or "" for turn in self.case.turns)

    @property
    def traces(self) -> tuple[Trace, ...]:
        """The traces of the case."""
        return self.suite.traces_of(self.case)

    def score(self, answer: Answer) -> Scores:
        """Score an answer. `golden.score(answer)["latency"]` is a number."""
        number = f"#{len(self.results) + 1}" if self.results else ""
        scores = self.suite.score(
            self.case, answer, id=f"{self._node}{number}", reason="the answer of the test"
        )
        self.results.append(scores.result)
        return scores

    def check(self, *answers: Answer) -> None:
        """Fail the test unless every answer passes. Without an answer, the target is called or the
        traces are scored."""
        __tracebackhide__ = True
        text = self._failures(answers)
        if text:
            raise AssertionError(text)

    def finish(self) -> None:
        """End the test. A test that did not score its case is checked now."""
        __tracebackhide__ = True
        text = None if self.results else self._failures(())
        if text:
            pytest.fail(text, pytrace=False)
        statuses = {result.status for result in self.results}
        # With informational metrics only, a test that scores and asserts on its own decides itself.
        if statuses == {"unscored"} or (self._checked and statuses <= {"unscored", "info"}):
            _skip(self.results[0])

    def without_answer(self, status: Literal["unscored", "error"], reason: str) -> CaseResult:
        """Return the result of a test in which nothing was scored."""
        if status == "unscored":
            return self.suite.unscored(self.case, reason)
        return self.suite.without_trace(self.case, status, reason)

    def _failures(self, answers: tuple[Answer, ...]) -> str:
        scored = [self.score(answer) for answer in answers] if answers else self._score_own()
        self._checked = True
        accepted = ("passed", "info", *(("unscored",) if self._arguments.allow_unscored else ()))
        failed = [scores for scores in scored if scores.result.status not in accepted]
        self.explained = bool(failed)
        return "\n\n".join(map(self._explain, failed))

    def _explain(self, scores: Scores) -> str:
        """Explain a failure. For a case without a trace, list unmatched traces: one of them may
        be its trace."""
        unmatched = self.suite.paired.unmatched if scores.result.trace is None else ()
        lines = [f"  trace {trace.trace}: {trace.why}" for trace in unmatched[:_SHOWN]]
        return "\n".join([scores.text, *lines])

    def _score_own(self) -> list[Scores]:
        if self._arguments.target:
            return [self.score(self._arguments.target(self.case))]
        if self.suite.traces or self.suite.paired.pairs:
            scored = self.suite.score_traces(self.case)
        else:
            scored = (Scores(self.without_answer("unscored", "the test gave no answer")),)
        self.results += [scores.result for scores in scored]
        return [*scored]


def _skip(result: CaseResult) -> NoReturn:
    if result.status == "info":
        pytest.skip(f"nothing was decided: {WHY_INFORMATIONAL}")
    reasons = [f"{score.metric}: {score.reason}" for score in result.scores]
    pytest.skip(f"unscored: {'; '.join(reasons) or result.paired_by}")
