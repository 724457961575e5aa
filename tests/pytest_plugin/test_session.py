from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

ANSWERS = """
    import pytest

    ANSWERS = {
        "Are you open on Monday?": "No, we are closed on Monday.",
        "Do you sell bells?": "Only on Tuesdays.",
        "Do you repair e-bikes?": "Yes, all of them.",
    }
"""
LIVE = (
    ANSWERS
    + """
    @pytest.mark.golden("shop.json", metrics=["response_match_score"])
    def test_shop(golden):
        golden.check(ANSWERS[golden.user])
"""
)
RECORDED = """
    import pytest

    @pytest.mark.golden("demo/support.evalset.json", traces="demo/traces/regressed.otlp.jsonl")
    def test_support():
        pass
"""


def lines(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_every_case_is_a_test_under_its_own_id(shop: pytest.Pytester):
    shop.makepyfile(LIVE)
    result = shop.runpytest_subprocess("-v")
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(
        ["*::test_shop[[]monday] PASSED*", "*[[]bells] FAILED*", "*[[]ebikes] PASSED*"]
    )


def test_threshold_that_every_score_reaches_is_named(shop: pytest.Pytester):
    idle = LIVE.replace("metrics=[", "thresholds={'response_match_score': 0}, metrics=[")
    shop.makepyfile(idle)
    result = shop.runpytest_subprocess()
    expected = "shop: warning: every score of response_match_score reaches the threshold 0, which*"
    result.stdout.fnmatch_lines([expected])
    shop.makepyfile(LIVE)
    assert "decides nothing" not in lines(shop.runpytest_subprocess())


def test_failure_shows_expected_and_actual_answer(shop: pytest.Pytester):
    shop.makepyfile(LIVE)
    result = shop.runpytest_subprocess("-k", "bells")
    result.assert_outcomes(failed=1, deselected=2)
    result.stdout.fnmatch_lines(
        [
            ">       golden.check(ANSWERS[[]golden.user])",
            "E       AssertionError: failed bells  (trace *test_shop[[]bells], *the test)",
            "E         response_match_score 0.00, threshold 0.8",
            "E           expected  Yes, from 5 euros.",
            "E           actual    Only on Tuesdays.",
        ]
    )
    assert "carob/pytest_plugin" not in lines(result)


def test_traces_are_scored_and_a_failure_shows_the_edit_script(shop: pytest.Pytester):
    shop.makepyfile(RECORDED)
    result = shop.runpytest_subprocess()
    result.assert_outcomes(passed=4, failed=5)
    result.stdout.fnmatch_lines(
        [
            "*test_support[[]repair_brake]*",
            "failed repair_brake  (trace regressed-repair_brake, by first user message)",
            "  tool_trajectory_avg_score 0.67, threshold 1",
            "    turn 3: book_repair: slot: expected '2026-03-05T09:00', got '2026-03-05T11:00'",
            "unscored impatient_customer*",
        ]
    )
    assert "Traceback" not in lines(result)
    assert "test_a_failure" not in lines(result)


def test_last_failures_are_run_again(shop: pytest.Pytester):
    shop.makepyfile(RECORDED)
    shop.runpytest_subprocess("-q")
    result = shop.runpytest_subprocess("--lf", "-q")
    result.assert_outcomes(failed=5)
    selected = shop.runpytest_subprocess(
        "-q", "test_last_failures_are_run_again.py::test_support[order_status]"
    )
    selected.assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ('metrics=["respons_match_score"]', "unknown metric 'respons_match_score'", "did you mean"),
        ('metric=["latency"]', "unknown argument 'metric'", "did you mean 'metrics'?"),
        ('thresholds={"latency": 1}', "metric 'latency' is not part of this run", "are factuality"),
        ('tags=["stocks"]', "shop: none of the 3 cases matches", "the tags are repair"),
        ('where="tag == 1"', "unknown field 'tag'", "did you mean 'tags'?"),
        ('traces="gone.jsonl"', "gone.jsonl: no such file", ""),
    ],
)
def test_misspelled_name_is_an_error_before_anything_runs(
    shop: pytest.Pytester, arguments: str, message: str, hint: str
):
    shop.makepyfile(f"""
        import pytest

        def test_other(): ...

        @pytest.mark.golden("shop.json", {arguments})
        def test_shop(): ...
    """)
    result = shop.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    assert message in lines(result)
    assert hint in lines(result)
    assert "Traceback" not in lines(result)


def test_missing_golden_file_is_an_error(shop: pytest.Pytester):
    shop.makepyfile('import pytest\n@pytest.mark.golden("gone.json")\ndef test_shop(): ...')
    result = shop.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["pytest.mark.golden: *gone.json: no such file"])


def test_golden_file_without_cases_is_an_error_and_not_a_skipped_test(shop: pytest.Pytester):
    shop.makefile(".json", empty='{"eval_set_id": "emptied", "eval_cases": []}')
    shop.makepyfile('import pytest\n@pytest.mark.golden("empty.json")\ndef test_shop(): ...')
    result = shop.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["pytest.mark.golden: emptied has no cases"])


def test_cases_are_chosen_by_tag_and_by_expression(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", tags=["stock"])
        def test_tag(): ...

        @pytest.mark.golden("shop.json", where="'repair' in tags")
        def test_where(): ...
    """)
    result = shop.runpytest_inprocess("--collect-only", "-q")
    names = [line.partition("::")[2] for line in lines(result).splitlines() if "::" in line]
    assert names == ["test_tag[bells]", "test_where[ebikes]"]


def test_marker_works_with_other_parameters_and_classes(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", tags="shop")
        class TestShop:
            @pytest.mark.parametrize("model", ["small", "large"])
            def test_model(self, golden, model):
                golden.check("No, we are closed on Monday.")
    """)
    result = shop.runpytest_inprocess("-v")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_model[[]monday-small] PASSED*", "*[[]monday-large]*"])


def test_marker_on_a_unittest_method_is_an_error(shop: pytest.Pytester):
    shop.makepyfile("""
        import unittest
        import pytest

        class TestShop(unittest.TestCase):
            @pytest.mark.golden("shop.json")
            def test_shop(self): ...
    """)
    result = shop.runpytest_inprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*test_shop: methods of unittest cannot be marked*"])


def test_two_markers_on_one_test_are_an_error(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json")
        @pytest.mark.golden("demo/support.csv")
        def test_shop(): ...
    """)
    result = shop.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["pytest.mark.golden: two `golden` markers on one test"])


def test_config_beside_the_tests_names_metrics(shop: pytest.Pytester):
    shop.path.joinpath("carob.toml").write_text("[metrics.response_match_score]\nthreshold = 0.1\n")
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", tags="shop", target=lambda case: "We are open.")
        def test_shop(golden):
            golden.check()
            assert [one.metric for one in golden.results[0].scores] == ["response_match_score"]
    """)
    shop.runpytest_inprocess().assert_outcomes(passed=1)


def test_nothing_of_carob_is_loaded_for_tests_without_a_marker(shop: pytest.Pytester):
    shop.makepyfile("""
        import sys

        def test_modules():
            ours = {name for name in sys.modules if name.startswith("carob")}
            assert ours == {"carob", "carob.pytest_plugin"}
            assert "msgspec" not in sys.modules
    """)
    shop.runpytest_subprocess().assert_outcomes(passed=1)


def test_paths_are_relative_to_the_pytest_root_or_the_working_directory(
    shop: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
):
    folder = shop.mkdir("tests")
    body = 'import pytest\n@pytest.mark.golden("shop.json")\ndef test_shop(golden): ...\n'
    folder.joinpath("test_shop.py").write_text(body)
    shop.path.joinpath("tox.ini").unlink()
    shop.runpytest_inprocess("tests").assert_outcomes(failed=3)
    shop.makeini("[pytest]")
    monkeypatch.chdir(folder)
    shop.runpytest_inprocess().assert_outcomes(failed=3)


def test_dataset_is_read_once_for_all_tests_of_a_process(shop: pytest.Pytester):
    shop.makeconftest("""
        from carob.pytest_plugin import session

        load, read = session.load, []
        session.load = lambda path: read.append(path) or load(path)

        def pytest_collection_finish():
            assert len(read) == 1
            print("read once")
    """)
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", metrics="response_match_score")
        def test_one(): ...

        @pytest.mark.golden("shop.json", tags="stock")
        def test_two(): ...
    """)
    result = shop.runpytest_subprocess("--collect-only", "-s")
    result.stdout.fnmatch_lines(["*read once*"])
    assert result.ret == 0


def test_ids_with_control_characters_are_escaped(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest
        from carob import Case, Dataset

        CASE = Case.of("Hello", "Hi!", id="a::b \\x1b[31m\\nc")

        @pytest.mark.golden(Dataset(name="odd", cases=[CASE]), target=lambda case: "Hi!")
        def test_odd(): ...
    """)
    result = shop.runpytest_inprocess("-v")
    result.assert_outcomes(passed=1)
    assert "\x1b" not in lines(result)


def test_chosen_metrics_are_reported_once(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", limit=1, target=lambda case: case.turns[0].response)
        def test_one(): ...

        @pytest.mark.golden("shop.json", cases="bells", target=lambda case: "Yes, from 5 euros.")
        def test_two(): ...
    """)
    result = shop.runpytest_inprocess()
    result.assert_outcomes(passed=2)
    line = "shop: metrics: factuality, completeness (from the expectations of questions data)"
    assert result.outlines.count(line) == 1
