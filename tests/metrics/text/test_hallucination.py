from __future__ import annotations

import pytest

from carob.metrics.text.hallucination import GroundingUtilization, Hallucination
from carob.schema import Case, Score, Trace, Turn, Unscored

CASE = Case.of("When?", context="The museum opens on Tuesday.")


@pytest.mark.parametrize(
    ("response", "value", "reason"),
    [
        ("The museum opens on Tuesday.", 1.0, ""),
        ("Tickets are cheap.", 0.0, "not in the sources: 'Tickets are cheap.'"),
        (
            "The museum opens. Tickets are cheap.",
            0.5,
            "not in the sources: 'Tickets are cheap.'",
        ),
        ("The museum opens at 9.", 0.0, "not in the sources: 9"),
        (
            "The museum opens at 9. Tickets are cheap.",
            0.0,
            "not in the sources: 9; not in the sources: 'Tickets are cheap.'",
        ),
    ],
)
def test_share_of_grounded_sentences_and_what_is_in_no_source(
    response: str, value: float, reason: str
):
    outcome = Hallucination().score(CASE, Trace(id="t", turns=(Turn(response=response),)))
    assert isinstance(outcome, Score)
    assert (outcome.value, outcome.reason) == (value, reason)


def test_nothing_to_compare_and_nothing_stated_are_not_applicable():
    trace = Trace(id="t", turns=(Turn(response="It opens."),))
    assert Hallucination().score(Case.of("When?"), trace) == Unscored(
        reason="no context, expected response or tool result to compare with", not_applicable=True
    )
    silent = Trace(id="t", turns=(Turn(response="It is."),))
    assert Hallucination().score(CASE, silent) == Unscored(
        reason="the response states nothing", not_applicable=True
    )


def test_chunks_are_counted_and_unrecorded_is_not_zero():
    metric = GroundingUtilization()
    turns = Turn(grounding=("a", {"uri": "b"})), Turn(), Turn(grounding=())
    assert metric.score(Case(id="c"), Trace(id="t", turns=turns)) == Score(
        value=2.0, turns=(2.0, None, 0.0)
    )
    assert metric.score(Case(id="c"), Trace(id="t", turns=(Turn(),))) == Unscored(
        reason="grounding was not recorded"
    )
