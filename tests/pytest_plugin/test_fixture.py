from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def outcome(shop: pytest.Pytester, body: str, arguments: str = "") -> pytest.RunResult:
    """One test of the case `monday` with this body."""
    shop.makepyfile(f"""
        import pytest
        from carob import ToolCall, Trace, Turn

        @pytest.mark.golden("shop.json", tags="shop", {arguments})
        def test_shop(golden):
            {body}
    """)
    return shop.runpytest_inprocess("-ra")


@pytest.mark.parametrize(
    "answer",
    [
        "'No, we are closed on Monday.'",
        "{'response': 'No, we are closed on Monday.', 'tool_calls': []}",
        "['No, we are closed on Monday.']",
        "Trace(id='t', turns=(Turn(response='No, we are closed on Monday.'),))",
    ],
)
def test_answer_is_a_text_a_dict_a_list_or_a_trace(shop: pytest.Pytester, answer: str):
    outcome(shop, f"golden.check({answer})").assert_outcomes(passed=1)


def test_answer_of_an_unsupported_type_is_an_error(shop: pytest.Pytester):
    result = outcome(shop, "golden.check(None)")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*UsageError: invalid answer None"])


def test_misspelled_field_of_an_answer_is_an_error(shop: pytest.Pytester):
    result = outcome(shop, "golden.check({'respons': 'No.'})")
    result.stdout.fnmatch_lines(["*UsageError: unknown field 'respons' in an answer"])


def test_scores_can_be_asserted(shop: pytest.Pytester):
    body = "assert golden.score('We are closed.')['response_match_score'] >= 0.3"
    outcome(shop, body, "metrics='response_match_score'").assert_outcomes(passed=1)


def test_failed_assert_on_a_score_still_shows_the_case(shop: pytest.Pytester):
    body = "assert golden.score('We are closed.')['response_match_score'] == 1"
    result = outcome(shop, body, "metrics='response_match_score'")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E*assert 0.* == 1", "*- carob -*", "    expected  No, we are closed on Monday."]
    )


def test_unscored_metric_has_no_value(shop: pytest.Pytester):
    result = outcome(
        shop,
        "assert golden.score('No.')['tool_trajectory_avg_score'] < 1",
        "metrics='tool_trajectory_avg_score'",
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*AssertionError: tool_trajectory_avg_score unscored: *"])


def test_missing_answer_fails(shop: pytest.Pytester):
    result = outcome(shop, "pass")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["unscored monday  (the test gave no answer)"])


def test_target_is_asked_for_the_answer(shop: pytest.Pytester):
    target = "target=lambda case: case.turns[0].response"
    outcome(shop, "pass", target).assert_outcomes(passed=1)


def test_every_answer_of_several_must_pass(shop: pytest.Pytester):
    result = outcome(shop, "golden.check('No, we are closed on Monday.', 'Yes.')")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*failed monday  (trace *#2, the answer of the test)"])


def test_unscored_case_fails_unless_that_is_allowed(shop: pytest.Pytester):
    metric = "metrics=['tool_trajectory_avg_score']"
    outcome(shop, "golden.check('No.')", metric).assert_outcomes(failed=1)
    allowed = outcome(shop, "golden.check('No.')", f"{metric}, allow_unscored=True")
    allowed.assert_outcomes(skipped=1)
    allowed.stdout.fnmatch_lines(["SKIPPED*unscored: tool_trajectory_avg_score: *"])


def test_threshold_of_the_marker_applies(shop: pytest.Pytester):
    lower = "metrics=['response_match_score'], thresholds={'response_match_score': 0.3}"
    outcome(shop, "golden.check('We are closed.')", lower).assert_outcomes(passed=1)


def test_traces_of_a_case_are_available(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("demo/support.evalset.json", traces="demo/traces/good.otlp.jsonl")
        def test_turns(golden):
            if golden.users:
                assert [turn.user for turn in golden.traces[0].turns] == [*golden.users]
                assert golden.score(golden.traces[0]).passed
            else:
                pytest.skip("a scenario")
    """)
    shop.runpytest_inprocess().assert_outcomes(passed=8, skipped=1)


def test_case_without_a_trace_names_the_traces_without_a_case(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", traces="demo/traces/good.otlp.jsonl", tags="shop")
        def test_shop(): ...
    """)
    result = shop.runpytest_inprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "unscored monday  (no trace belongs to it)",
            "  trace good-impatient_customer: no case begins with its message",
        ]
    )


def test_traces_in_the_golden_data_are_scored(shop: pytest.Pytester):
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("demo/support.simulation.csv", metrics="tool_usage_accuracy",
                            allow_unscored=True)
        def test_rows(): ...
    """)
    result = shop.runpytest_inprocess()
    assert result.parseoutcomes().get("passed", 0) > 0
    result.stdout.no_fnmatch_line("*no trace belongs to it*")


def test_traces_that_cannot_be_read_fail_every_case(shop: pytest.Pytester):
    shop.path.joinpath("broken.jsonl").write_text("no trace\n")
    shop.makepyfile("""
        import pytest

        @pytest.mark.golden("shop.json", traces="broken.jsonl")
        def test_shop(): ...
    """)
    result = shop.runpytest_inprocess()
    result.assert_outcomes(failed=3)
    result.stdout.fnmatch_lines(["*broken.jsonl*"])


def test_fixture_needs_the_marker(shop: pytest.Pytester):
    shop.makepyfile("def test_shop(golden): ...")
    result = shop.runpytest_inprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*mark the test with @pytest.mark.golden(PATH)*"])
