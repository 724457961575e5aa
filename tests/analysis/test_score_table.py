from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from carob.analysis.per_case import count_attempts, pass_rates, score_columns
from carob.analysis.score_table import CaseNumbers, ScoreTable, status_name
from carob.schema import AttemptCounts, CaseResult, CaseScore, Run, Status
from carob.schema.status import case_status

MakeRun = Callable[..., Run]


def test_cases_have_the_same_numbers_in_all_tables(run: MakeRun):
    numbers = CaseNumbers()
    first = ScoreTable(run({"a": 1.0, "b": 0.0}), numbers)
    second = ScoreTable(run({"c": 1.0, "b": 1.0}), numbers)
    assert [*numbers.names] == ["a", "b", "c"]
    assert ([*first.numbers()], [*second.numbers()]) == ([0, 1], [2, 1])
    assert 2 not in first
    assert 0 not in second


def test_attempts_that_do_not_follow_each_other_belong_to_one_case(run: MakeRun):
    mixed = run({"a": [1.0, 0.0], "b": 1.0})
    mixed = replace(mixed, cases=(mixed.cases[0], mixed.cases[2], mixed.cases[1]))
    table = ScoreTable(mixed, CaseNumbers())
    assert [*table.rows(0)] == [0, 2]
    assert [*table.rows(1)] == [1]
    assert [*pass_rates(table, [0, 1]).values] == [0.5, 1.0]


def test_attempts_without_a_verdict_do_not_count(run: MakeRun):
    statuses: list[Status] = ["passed", "failed", "unscored", "error"]
    results = tuple(CaseResult(case="a", trace="t", status=status) for status in statuses)
    table = ScoreTable(replace(run({}), cases=results), CaseNumbers())
    assert count_attempts(table, 0, table.statuses) == AttemptCounts(passed=1, total=2)


def test_case_without_a_number_is_unknown_and_not_zero(run: MakeRun):
    table = ScoreTable(run({"a": None, "b": 0.0}), CaseNumbers())
    column = score_columns(table, "recall", [0, 1]).values
    assert [*column.known] == [0, 1]
    assert [*column.known_values()] == [0.0]


def test_excluded_cases_are_not_in_the_table(run: MakeRun):
    table = ScoreTable(run({"a": 0.0, "b": 1.0}), CaseNumbers(), {"a", "unknown"})
    assert [table.cases.names[number] for number in table.numbers()] == ["b"]
    assert table.excluded == {"a"}


def test_every_case_may_have_a_mapping_of_its_own(run: MakeRun):
    original = run({f"case-{number}": 1.0 for number in range(300)})
    results = tuple(
        replace(result, mapper=f"genai@{number}") for number, result in enumerate(original.cases)
    )
    table = ScoreTable(replace(original, cases=results), CaseNumbers())
    assert [table.mapper(number) for number in (0, 254, 255, 299)] == [
        "genai@0",
        "genai@254",
        "genai@255",
        "genai@299",
    ]


def score(
    status: Status, *, threshold: float | None = 0.5, not_applicable: bool = False
) -> CaseScore:
    value = 1.0 if status in ("passed", "failed", "info") else None
    return CaseScore("recall", status, value, threshold, not_applicable=not_applicable)


def test_derived_statuses_are_those_that_the_metrics_give(run: MakeRun):
    original = run({})
    second = replace(original.metrics[0], name="length")
    pairs = [
        (score("passed"), score("passed")),
        (score("passed"), score("failed")),
        (score("passed"), score("info", threshold=None)),
        (score("info", threshold=None), score("info", threshold=None)),
        (score("unscored"), score("passed")),
        (score("unscored", not_applicable=True), score("passed")),
        (score("unscored", not_applicable=True), score("info", threshold=None)),
        (score("unscored", threshold=None), score("passed")),
        (score("error"), score("passed")),
    ]
    results = tuple(
        CaseResult(f"c{number}", "t", "failed", (recall, replace(length, metric="length")))
        for number, (recall, length) in enumerate(pairs)
    )
    changed = replace(original, cases=results, metrics=(*original.metrics, second))
    derived = ScoreTable(changed, CaseNumbers()).derive_statuses(["recall", "length"])
    assert [*map(status_name, derived)] == [case_status(result.scores) for result in results]
    assert [*map(status_name, derived)] == [
        "passed",
        "failed",
        "passed",
        "info",
        "unscored",
        "passed",
        "unscored",
        "passed",
        "error",
    ]
