from __future__ import annotations

from carob.metrics.text.hallucination import GroundingUtilization
from carob.schema import Case, Score, Trace, Turn, Unscored


def test_chunks_are_counted_and_unrecorded_is_not_zero():
    metric = GroundingUtilization()
    turns = Turn(grounding=("a", {"uri": "b"})), Turn(), Turn(grounding=())
    assert metric.score(Case(id="c"), Trace(id="t", turns=turns)) == Score(
        value=2.0, turns=(2.0, None, 0.0)
    )
    assert metric.score(Case(id="c"), Trace(id="t", turns=(Turn(),))) == Unscored(
        reason="grounding was not recorded"
    )
