from __future__ import annotations

import sys
from pathlib import Path

import pytest

from carob.api.history import find_run
from carob.schema import Run

pytest_plugins = ["pytester"]

CAROB = str(Path(sys.executable).with_name("carob"))
TESTS = """
    import pytest

    @pytest.mark.golden("demo/support.evalset.json", traces="demo/traces/regressed.otlp.jsonl")
    def test_recorded(): ...

    @pytest.mark.golden("shop.json", metrics="response_match_score")
    def test_live(golden):
        golden.check({"bells": "Yes, from 5 euros.", "monday": "Of course."}[golden.case.id])
"""


def recorded(shop: pytest.Pytester, *arguments: str, name: str = "run.json") -> Run:
    shop.runpytest_subprocess("-q", "--carob-run", name, *arguments)
    return find_run(str(shop.path / name))


def test_a_session_is_one_run_however_many_processes_it_has(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    shop.makepyfile(TESTS)
    recorded(shop, name="one.json")
    recorded(shop, "-n", "2", name="two.json")
    one, two = (Path(shop.path / name).read_bytes() for name in ("one.json", "two.json"))
    assert one == two


def test_a_run_holds_every_case_in_the_order_of_the_data(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    made = recorded(shop, "-p", "no:randomly")
    assert made.verdict == "failed"
    assert made.dataset is not None
    assert made.dataset.name == "bike_shop_support + shop"
    assert [(one.case, one.status) for one in made.cases[-3:]] == [
        ("monday", "failed"),
        ("bells", "passed"),
        ("ebikes", "error"),
    ]
    assert made.cases[-1].paired_by == "the test ended with KeyError"
    assert {group.value for group in made.summary.groups} >= {"shop", "stock", "repair"}


def test_a_part_of_the_cases_makes_a_run_of_them(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    made = recorded(shop, "-k", "bells")
    assert [one.case for one in made.cases] == ["bells"]
    assert made.verdict == "passed"


def test_a_recorded_case_scores_as_in_carob_run(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    made = recorded(shop, "-k", "test_recorded")
    shop.run(
        *(CAROB, "run", "demo/traces/regressed.otlp.jsonl", "--no-store"),
        *("-g", "demo/support.evalset.json", "--format", "json", "-o", "other.json"),
    )
    other = find_run(str(shop.path / "other.json"))
    assert (made.id, made.cases, made.summary) == (other.id, other.cases, other.summary)


def test_a_run_can_be_gated_against_another(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    recorded(shop, "-k", "test_recorded")
    shop.run(
        *(CAROB, "run", "demo/traces/good.otlp.jsonl", "--no-store"),
        *("-g", "demo/support.evalset.json", "--format", "json", "-o", "good.json"),
    )
    gate = shop.run(CAROB, "gate", "run.json", "--baseline", "good.json", "--strict")
    assert gate.ret == 1
    gate.stdout.fnmatch_lines(["failed: *"])


def test_no_golden_test_is_an_empty_run_and_not_the_last_one(shop: pytest.Pytester):
    shop.path.joinpath("run.json").write_text("of last time")
    shop.makepyfile("def test_other(): ...")
    made = recorded(shop)
    assert (made.verdict, made.cases) == ("inconclusive", ())


def test_a_skipped_case_is_unscored(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.skip
        @pytest.mark.golden("shop.json", tags="shop")
        def test_shop(golden): ...
    """)
    [one] = recorded(shop).cases
    assert (one.status, one.paired_by) == ("unscored", "the test was skipped")


def test_what_cannot_become_one_run_is_an_error_before_anything_runs(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", metrics="response_match_score")
        def test_one(): ...

        @pytest.mark.golden("shop.json", thresholds={"response_match_score": 0.5})
        def test_two(): ...
    """)
    result = shop.runpytest_inprocess("--carob-run", "run.json")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*'response_match_score' is used with different thresholds or param*"]
    )


def test_a_folder_that_is_missing_is_an_error_before_anything_runs(shop: pytest.Pytester):
    result = shop.runpytest_inprocess("--carob-run", "gone/run.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gone/run.json: the folder does not exist"])


def test_a_run_is_kept_in_the_store(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    result = shop.runpytest_subprocess("-k", "bells", "--carob-store", "kept.db")
    result.stdout.fnmatch_lines(["passed: shop: 1 passed of 1 (run-*)", "saved in the store"])
    listed = shop.run(CAROB, "runs", "--store", "kept.db")
    listed.stdout.fnmatch_lines(["run-* passed *"])
