from __future__ import annotations

import json
import shutil
import sys
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from carob.cli import carob
from carob.errors import EvaluationError, FormatError, InputError, UsageError, install_hint

TRAJECTORY = "tool_trajectory_avg_score"
MATCH = "response_match_score"


@pytest.fixture(autouse=True)
def _runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runs of two releases of the bike shop's agent, in `good.json` and `regressed.json`."""
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1780000000")  # 28 May 2026
    for release in ("good", "regressed"):
        evaluate(release, f"{release}.json")


def evaluate(release: str, output: str, *args: str) -> None:
    traces = f"traces/{release}.otlp.jsonl"
    call("run", traces, "--golden", "support.evalset.json", *args, "--format", "json", "-o", output)


def call(*args: str) -> Result:
    return CliRunner().invoke(carob, [*args])


def quarantine(expires: str = "2026-06-30", case: str = "warranty_frame") -> str:
    Path("quarantine.toml").write_text(
        f'[[quarantine]]\ncase = "{case}"\nowner = "ida"\nexpires = "{expires}"\n'
        'reason = "the warranty service is being replaced"\n'
    )
    return "quarantine.toml"


def test_run_contains_the_digests_of_cases_and_mappers():
    cases = json.loads(Path("good.json").read_text())["cases"]
    assert all(case["digest"].startswith("sha256:") for case in cases)
    assert {case["mapper"] for case in cases if case["trace"]} == {"genai@2"}


def test_broken_cases_are_shown_with_expected_before_and_after():
    result = call("compare", "good.json", "regressed.json")
    assert result.exit_code == 0
    assert "inconclusive: pass_rate" in result.stdout
    assert "broke stock_winter_tyres" in result.stdout
    assert "expected  Yes, we have 6 studded winter tyres" in result.stdout
    assert "before    (passed)" in result.stdout
    assert "after     I am sorry, I cannot look into our stock" in result.stdout


def test_comparison_is_one_json_document():
    document = json.loads(call("compare", "good.json", "regressed.json", "--format", "json").stdout)
    assert document["schema"] == "carob.comparison/1"
    assert document["cases"]["same"] == 9
    assert [metric["name"] for metric in document["metrics"]] == [TRAJECTORY, MATCH]
    assert document["overall"]["passes"] is None
    assert document["metrics"][0]["passes"]["broke"] == 3
    assert len(document["flips"]) == 4


def test_same_runs_give_the_same_bytes():
    args = ("compare", "good.json", "regressed.json", "--format", "json")
    assert call(*args).stdout == call(*args).stdout


def test_regression_sets_the_exit_code_only_on_request():
    regressed = ("compare", "good.json", "regressed.json", "--alpha", "0.4")
    assert call(*regressed).stdout.startswith("regressed: ")
    assert call(*regressed).exit_code == 0
    assert call(*regressed, "--exit-code").exit_code == 1
    assert call("compare", "good.json", "good.json", "--exit-code").exit_code == 0


def test_margin_applies_to_all_metrics_or_to_one():
    args = ("--margin", "0.1", "--margin", f"{MATCH}=0.3", "--format", "json")
    document = json.loads(call("compare", "good.json", "regressed.json", *args).stdout)
    assert [metric["difference"]["margin"] for metric in document["metrics"]] == [0.1, 0.3]


@pytest.mark.parametrize("margin", ["wide", f"{MATCH}=wide", "=0.1"])
def test_margin_that_is_not_a_number_is_a_usage_error(margin: str):
    result = call("compare", "good.json", "good.json", "--margin", margin)
    assert result.exit_code == 2
    assert "Invalid value for '--margin': " in result.stderr


def test_changed_inputs_are_listed():
    evaluate("regressed", "other.json", "-m", MATCH, "-m", "bleu", "--threshold", f"{MATCH}=0.9")
    text = call("compare", "good.json", "other.json").stdout
    assert "metric bleu, used not before, once after: not compared" in text
    assert f"metric {MATCH}, threshold: 0.8 → 0.9; scores are compared, pass rates are not" in text
    assert f"metric {TRAJECTORY}, used once before, not after: not compared" in text


def test_text_of_agents_is_escaped_in_markdown():
    text = call("compare", "good.json", "regressed.json", "--format", "md").stdout
    assert text.startswith("### inconclusive: pass\\_rate")
    assert "| repair\\_brake | passed | failed |" in text


def test_file_that_is_not_a_run_is_an_error():
    Path("other.json").write_text("{}")
    result = call("compare", "good.json", "other.json")
    assert isinstance(result.exception, InputError)
    assert str(result.exception).startswith("other.json: ")


def test_without_scipy_a_hint_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "scipy", None)
    result = call("compare", "good.json", "regressed.json")
    assert isinstance(result.exception, UsageError)
    assert "the package 'scipy'" in str(result.exception)
    assert result.exception.hint == install_hint("stats")


def test_inconclusive_results_fail_only_a_strict_gate():
    args = ("gate", "regressed.json", "--baseline", "good.json")
    assert call(*args).exit_code == 0
    assert call(*args).stdout.startswith("passed: run-")
    assert call(*args, "--strict").exit_code == 1


def test_gate_fails_for_a_regression_or_a_low_pass_rate():
    assert (
        call("gate", "regressed.json", "--baseline", "good.json", "--alpha", "0.4").exit_code == 1
    )
    assert (
        call("gate", "good.json", "--baseline", "regressed.json", "--alpha", "0.4").exit_code == 0
    )
    low = call("gate", "regressed.json", "--min-pass-rate", "0.9", "--allow-unscored")
    assert low.exit_code == 1
    assert "failed  pass_rate: 50.0% of 8 cases, expected at least 90.0%" in low.stdout


def test_gate_checks_means_against_thresholds():
    args = ("gate", "good.json", "--allow-unscored", "--threshold")
    assert call(*args, f"{MATCH}=0.9").exit_code == 0
    assert call(*args, f"{MATCH}=0.999").exit_code == 1


def test_gate_without_rules_is_a_usage_error():
    result = call("gate", "good.json")
    assert isinstance(result.exception, UsageError)
    assert "--baseline" in str(result.exception.hint)


def test_gate_rules_come_from_carob_toml_and_flags_override_them():
    Path("carob.toml").write_text(
        '[gate]\nbaseline = "good.json"\nstrict = true\nmin_pass_rate = 0.9\n'
        f'quarantine = "{quarantine()}"\n\n[gate.thresholds]\n{MATCH} = 0.5\n'
    )
    document = json.loads(call("gate", "regressed.json", "--format", "json").stdout)
    assert [check["status"] for check in document["checks"]][:3] == ["passed", "passed", "failed"]
    assert document["comparison"]["cases"]["same"] == 8
    lax = json.loads(
        call("gate", "regressed.json", "--min-pass-rate", "0.1", "--format", "json").stdout
    )
    assert [check["status"] for check in lax["checks"]][:3] == ["passed"] * 3


@pytest.mark.parametrize(
    "text",
    ['[gate]\nbaselin = "good.json"\n', "[gate]\nmargin = true\n", '[gate]\nquarantine = "../q"\n'],
)
def test_mistake_in_the_rules_is_an_error(text: str):
    Path("carob.toml").write_text(text)
    assert isinstance(call("gate", "good.json", "--min-pass-rate", "0.5").exception, FormatError)


def test_quarantined_case_does_not_decide_and_is_listed():
    args = ("gate", "regressed.json", "--min-pass-rate", "0.55", "--allow-unscored")
    assert call(*args).exit_code == 1
    result = call(*args, "--quarantine", quarantine())
    assert result.exit_code == 0
    assert "quarantined  warranty_frame: the warranty" in result.stdout


def test_expired_quarantine_is_an_error_with_its_owner():
    args = ("gate", "regressed.json", "--min-pass-rate", "0.5", "--quarantine")
    result = call(*args, quarantine(expires="2026-05-27"))
    assert isinstance(result.exception, EvaluationError)
    assert "quarantine expired for 'warranty_frame' (2026-05-27, owner ida)" in str(
        result.exception
    )
    last_day = call(*args, quarantine(expires="2026-05-28"), "--allow-unscored")
    assert last_day.exit_code == 0


def test_quarantined_case_missing_from_the_run_is_a_warning():
    result = call(
        "gate", "good.json", "--min-pass-rate", "0.5", "--quarantine", quarantine(case="waranty")
    )
    assert "quarantined case 'waranty' is not in the run" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[quarantine]]\ncase = "a"\n', "missing key 'owner'"),
        ('[[quarantine]]\ncase = "a"\nowner = "i"\nexpires = "soon"\n', "expected a date such as"),
        ('[[quarantine]]\ncase = "a"\nowner = "i"\nexpires = 2026-05-01\n', "quote it"),
        ('[[cases]]\ncase = "a"\n', "unknown key 'cases'"),
    ],
)
def test_incomplete_quarantine_is_an_error(text: str, message: str):
    Path("quarantine.toml").write_text(text)
    result = call("gate", "good.json", "--min-pass-rate", "0.5", "--quarantine", "quarantine.toml")
    assert isinstance(result.exception, FormatError)
    assert message in str(result.exception)


def test_run_without_judges_needs_no_calibration():
    result = call("gate", "good.json", "--require-calibration", "--allow-unscored")
    assert result.exit_code == 0
    assert "passed  calibration: no judge decides" in result.stdout


def test_threshold_of_zero_counts_as_a_rule():
    assert call("gate", "good.json", "--min-pass-rate", "0", "--allow-unscored").exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--threshold", f"{MATCH}=7"), "the threshold is 7, expected a number from 0 to 1"),
        (("--threshold", f"{MATCH}=nan"), "the threshold is nan"),
        (("--baseline", "good.json", "--margin", "5"), "the margin is 5, expected a share"),
    ],
)
def test_gate_without_a_deciding_check_is_an_error(args: tuple[str, ...], message: str):
    error = CliRunner().invoke(carob, ["gate", "regressed.json", *args]).exception
    assert isinstance(error, UsageError)
    assert message in str(error)


@pytest.mark.parametrize("command", ["report", "gate"])
def test_run_that_was_edited_is_refused(command: str):
    edited = Path("regressed.json").read_text().replace('"value": 0.42', '"value": 0.92')
    Path("edited.json").write_text(edited)
    rules = ("--min-pass-rate", "0.1") if command == "gate" else ()
    error = call(command, "edited.json", *rules).exception
    assert isinstance(error, InputError)
    assert "but the content has the id" in error.message


def test_verdict_that_was_edited_is_refused():
    text = Path("regressed.json").read_text()
    Path("edited.json").write_text(text.replace('"verdict": "failed"', '"verdict": "passed"'))
    error = call("compare", "regressed.json", "edited.json").exception
    assert "the verdict is 'passed', but the cases give 'failed'" in str(error)


def test_summary_that_was_edited_is_refused():
    run = json.loads(Path("regressed.json").read_text())
    run["summary"]["cases"]["failed"] = 0
    Path("edited.json").write_text(json.dumps(run))
    error = call("report", "edited.json").exception
    assert "the summary does not match the cases" in str(error)


def test_runs_of_another_store_are_compared_by_age():
    for release in ("good", "regressed"):
        golden = ("--golden", "support.evalset.json", "-m", "tool_trajectory_avg_score")
        call("run", f"traces/{release}.otlp.jsonl", *golden, "--store", "other.db")
    compared = call("compare", "latest~1", "latest", "--store", "other.db", "--format", "json")
    document = json.loads(compared.stdout)
    newest = json.loads(call("report", "latest", "--store", "other.db", "--format", "json").stdout)
    assert document["after"]["id"] == newest["id"] != document["before"]["id"]
    gate = ("gate", "latest", "--baseline", "latest~1", "--store", "other.db")
    result = json.loads(call(*gate, "--format", "json").stdout)
    assert (result["baseline"], result["run"]) == (document["before"]["id"], newest["id"])
    error = call("compare", "latest~2", "latest", "--store", "other.db").exception
    assert isinstance(error, InputError)
    assert (error.message, error.hint) == (
        "no run found for 'latest~2'",
        "there are 2 such runs",
    )
