from __future__ import annotations

from collections.abc import Callable

import msgspec

from carob.analysis.align import align
from carob.analysis.flips import find_flips
from carob.analysis.score_table import CaseNumbers, ScoreTable
from carob.schema import CaseScore, Exchange, Flip, Run

MakeRun = Callable[..., Run]


def flipped(before: Run, after: Run) -> list[Flip]:
    numbers = CaseNumbers()
    aligned = align(ScoreTable(before, numbers), ScoreTable(after, numbers))
    return [*find_flips(aligned, ["recall"])]


def test_case_that_no_longer_passes_is_broken(run: MakeRun):
    (flip,) = flipped(run({"a": 1.0, "b": 1.0}), run({"a": 0.0, "b": 0.9}))
    assert (flip.case, flip.kind, flip.before, flip.after) == ("a", "broke", "passed", "failed")
    assert (flip.scores[0].before, flip.scores[0].after) == (1.0, 0.0)


def test_scores_that_changed_are_those_of_compared_metrics(run: MakeRun):
    def with_tone(finished: Run, value: float) -> Run:
        tone = CaseScore(metric="tone", status="info", value=value)
        cases = tuple(
            msgspec.structs.replace(case, scores=(*case.scores, tone)) for case in finished.cases
        )
        return msgspec.structs.replace(finished, cases=cases)

    before, after = run({"a": 1.0}), run({"a": 0.0})
    (flip,) = flipped(with_tone(before, 0.2), with_tone(after, 0.9))
    assert [score.metric for score in flip.scores] == ["recall"]
    (flip,) = flipped(before, with_tone(after, 0.9))
    assert [(score.metric, score.before, score.after) for score in flip.scores] == [
        ("recall", 1.0, 0.0)
    ]


def test_case_that_passes_now_is_fixed_and_shows_the_earlier_answer(run: MakeRun):
    before, after = run({"a": 0.0}), run({"a": 1.0})
    exchange = Exchange(user="Where is it?", expected="In Lund.", actual="I do not know.")
    result = msgspec.structs.replace(before.cases[0], exchanges=(exchange,))
    (flip,) = flipped(msgspec.structs.replace(before, cases=(result,)), after)
    (turn,) = flip.turns
    assert flip.kind == "fixed"
    assert (turn.user, turn.expected, turn.before, turn.after) == (
        "Where is it?",
        "In Lund.",
        "I do not know.",
        None,
    )


def test_case_without_a_verdict_does_not_flip(run: MakeRun):
    assert flipped(run({"a": 1.0, "b": None}), run({"a": None, "b": 0.0})) == []


def test_with_repeats_most_attempts_decide(run: MakeRun):
    before = run({"a": [1.0, 1.0, 0.0], "b": [1.0, 1.0, 0.0]})
    after = run({"a": [0.0, 1.0, 0.0], "b": [1.0, 0.0, 1.0]})
    (flip,) = flipped(before, after)
    assert (flip.case, flip.before, flip.after) == ("a", "passed", "failed")


def test_many_flips_are_made_while_they_are_iterated(run: MakeRun):
    before = run({f"case-{n}": 1.0 for n in range(6_000)})
    after = run({f"case-{n}": float(n % 2) for n in range(6_000)})
    numbers = CaseNumbers()
    flips = find_flips(align(ScoreTable(before, numbers), ScoreTable(after, numbers)), ["recall"])
    few = run({"case-2": 1.0}), run({"case-2": 0.0})
    assert not isinstance(flips, tuple)
    assert len(flips) == 3_000
    assert flips[1:2] == (flips[1],) == tuple(flipped(*few))
    assert flips[-1].case == "case-5998"


def test_flip_shows_the_reason_of_the_failure_and_only_compared_metrics(run: MakeRun):
    def with_reasons(original: Run, reason: str) -> Run:
        scores = [
            msgspec.structs.replace(original.cases[0].scores[0], reason=reason),
            CaseScore("latency", "info", value=1.0, reason=reason),
        ]
        case = msgspec.structs.replace(original.cases[0], scores=tuple(scores))
        return msgspec.structs.replace(original, cases=(case,))

    good, bad = with_reasons(run({"a": 1.0}), "all said"), with_reasons(run({"a": 0.0}), "cut off")
    (broke,), (fixed,) = flipped(good, bad), flipped(bad, good)
    assert (broke.kind, [score.reason for score in broke.scores]) == ("broke", ["cut off"])
    assert (fixed.kind, [score.reason for score in fixed.scores]) == ("fixed", ["cut off"])
