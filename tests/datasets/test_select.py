from __future__ import annotations

from collections import Counter

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


def cases_of(*kinds: str) -> Dataset:
    cases = [
        Case(id=f"{kind}{number}", metadata={"kind": kind}) for number, kind in enumerate(kinds)
    ]
    return Dataset(name="shop", cases=cases)


def test_filter_takes_any_of_several_values_of_the_metadata():
    dataset = cases_of("high", "low", "medium")
    part = select_cases(dataset, CaseSelection(filters=("kind:High,medium",)))
    assert [case.id for case in part.cases] == ["high0", "medium2"]
    with pytest.raises(UsageError, match="expected KEY:VALUE"):
        select_cases(dataset, CaseSelection(filters=("kind",)))


def test_sample_has_each_stratum_with_its_share():
    dataset = cases_of(*["high"] * 60, *["low"] * 30, *["medium"] * 10)
    selection = CaseSelection(sample=10, stratify="kind", seed=7)
    part = select_cases(dataset, selection)
    kinds = Counter(case.metadata["kind"] for case in part.cases)
    assert kinds == {"high": 6, "low": 3, "medium": 1}
    assert [case.id for case in part.cases] == sorted(
        (case.id for case in part.cases), key=[case.id for case in dataset.cases].index
    )


def test_same_seed_draws_the_same_sample_and_another_seed_another_one():
    dataset = cases_of(*["high"] * 100)
    samples = [
        [case.id for case in select_cases(dataset, CaseSelection(sample=10, seed=seed)).cases]
        for seed in (1, 1, 2)
    ]
    assert samples[0] == samples[1] != samples[2]
    assert len(samples[0]) == 10


def test_sample_larger_than_the_dataset_is_the_dataset():
    dataset = cases_of("high", "low")
    assert len(select_cases(dataset, CaseSelection(sample=10)).cases) == 2
