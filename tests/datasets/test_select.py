from __future__ import annotations

import pytest

from carob.datasets.select import select_cases
from carob.errors import UsageError
from carob.schema import Case, CaseSelection, Dataset

DATASET = Dataset(
    name="shop",
    cases=[
        Case.of("Open?", id="open", tags=["hours"], metadata={"level": 1}),
        Case.of("Open on Monday?", id="monday", tags=["hours", "edge"], metadata={"level": 2}),
        Case.of("Bells?", id="bells", tags=["stock"], metadata={"level": 2}),
    ],
)


def select(**conditions: object) -> list[str]:
    selection = CaseSelection(**conditions)  # pyright: ignore[reportArgumentType] - its fields
    return [case.id for case in select_cases(DATASET, selection).cases]


def test_case_must_meet_all_conditions():
    assert select(tags=("hours",)) == ["open", "monday"]
    assert select(tags=("hours", "edge")) == ["monday"]
    assert select(where="metadata.level == 2") == ["monday", "bells"]
    assert select(where="metadata.level == 2", tags=("stock",)) == ["bells"]
    assert select(cases=("bells", "open")) == ["open", "bells"]
    assert select(cases=("bells", "open"), tags=("stock",)) == ["bells"]


def test_limit_counts_the_cases_that_meet_the_other_conditions():
    assert select(limit=2) == ["open", "monday"]
    assert select(limit=1, where="metadata.level == 2") == ["monday"]
    assert select(limit=9) == ["open", "monday", "bells"]


def test_unknown_case_is_an_error_with_a_suggestion():
    with pytest.raises(UsageError, match="shop: unknown case 'mondy'") as caught:
        select(cases=("open", "mondy"))
    assert caught.value.hint == "did you mean 'monday'?"


def test_no_match_is_an_error_with_the_tags_and_metadata():
    with pytest.raises(UsageError, match="none of the 3 cases matches") as caught:
        select(tags=("hour",))
    assert caught.value.hint == (
        "the tags are hours, edge, stock; the metadata fields are metadata.level"
    )
