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


def test_session_is_one_run_for_any_number_of_processes(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    shop.makepyfile(TESTS)
    recorded(shop, name="one.json")
    recorded(shop, "-n", "2", name="two.json")
    first, second = (Path(shop.path / name).read_bytes() for name in ("one.json", "two.json"))
    assert first == second


def test_run_contains_every_case_in_dataset_order(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    run = recorded(shop, "-p", "no:randomly")
    assert run.verdict == "failed"
    assert run.dataset is not None
    assert run.dataset.name == "bike_shop_support + shop"
    assert [(case.case, case.status) for case in run.cases[-3:]] == [
        ("monday", "failed"),
        ("bells", "passed"),
        ("ebikes", "error"),
    ]
    assert run.cases[-1].paired_by == "the test ended with KeyError"
    assert {group.value for group in run.summary.groups} >= {"shop", "stock", "repair"}


def test_run_contains_only_the_selected_cases(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    run = recorded(shop, "-k", "bells")
    assert [case.case for case in run.cases] == ["bells"]
    assert run.verdict == "passed"


def test_recorded_case_scores_as_in_carob_run(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    session_run = recorded(shop, "-k", "not test_live")
    shop.run(
        *(CAROB, "run", "demo/traces/regressed.otlp.jsonl", "--no-store"),
        *("-g", "demo/support.evalset.json", "--format", "json", "-o", "other.json"),
    )
    command_run = find_run(str(shop.path / "other.json"))
    assert (session_run.id, session_run.cases, session_run.summary) == (
        command_run.id,
        command_run.cases,
        command_run.summary,
    )


def test_run_can_be_gated_against_another(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    recorded(shop, "-k", "test_recorded")
    shop.run(
        *(CAROB, "run", "demo/traces/good.otlp.jsonl", "--no-store"),
        *("-g", "demo/support.evalset.json", "--format", "json", "-o", "good.json"),
    )
    gate = shop.run(CAROB, "gate", "run.json", "--baseline", "good.json", "--strict")
    assert gate.ret == 1
    gate.stdout.fnmatch_lines(["failed: *"])


def test_session_without_golden_tests_is_an_empty_run_not_the_last_one(shop: pytest.Pytester):
    shop.path.joinpath("run.json").write_text("of last time")
    shop.makepyfile("def test_other(): ...")
    run = recorded(shop)
    assert (run.verdict, run.cases) == ("inconclusive", ())


def test_skipped_case_is_unscored(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.skip
        @pytest.mark.golden("shop.json", tags="shop")
        def test_shop(golden): ...
    """)
    [case] = recorded(shop).cases
    assert (case.status, case.paired_by) == ("unscored", "the test was skipped")


def test_markers_with_different_thresholds_are_an_error_before_anything_runs(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", metrics="response_match_score")
        def test_one(): ...

        @pytest.mark.golden(
            "shop.json",
            metrics="response_match_score",
            thresholds={"response_match_score": 0.5},
        )
        def test_two(): ...
    """)
    result = shop.runpytest_inprocess("--carob-run", "run.json")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(
        ["*'response_match_score' is used with different thresholds or param*"]
    )


def test_missing_folder_is_an_error_before_anything_runs(shop: pytest.Pytester):
    result = shop.runpytest_inprocess("--carob-run", "gone/run.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gone/run.json: the folder does not exist"])


def test_run_is_saved_in_the_store(shop: pytest.Pytester):
    shop.makepyfile(TESTS)
    result = shop.runpytest_subprocess("-k", "bells", "--carob-store", "kept.db")
    result.stdout.fnmatch_lines(["passed: shop: 1 passed of 1 (run-*)", "saved in the store"])
    listed = shop.run(CAROB, "runs", "--store", "kept.db")
    listed.stdout.fnmatch_lines(["run-* passed *"])
