from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from carob.cli import carob
from carob.errors import CarobError, UsageError

TRAJECTORY = "tool_trajectory_avg_score"


@pytest.fixture(autouse=True)
def _shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with resources.as_file(resources.files("carob") / "demo" / "data") as data:
        shutil.copytree(data, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def run(*args: str, release: str = "regressed", golden: str = "support.evalset.json") -> Result:
    traces = [f"traces/{release}.otlp.jsonl"] if release else []
    return CliRunner().invoke(carob, ["run", *traces, "--golden", golden, *args])


def test_run_prints_the_json_contract():
    result = run("-m", TRAJECTORY, "--format", "json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert document["schema"] == "carob.run/1"
    assert document["verdict"] == "failed"
    assert document["dataset"]["name"] == "bike_shop_support"
    assert document["dataset"]["format"] == "adk"
    assert document["metrics"][0] | {"params": {}} == {
        "name": TRAJECTORY,
        "version": 2,
        "params": {},
        "threshold": 1.0,
        "scale": [0.0, 1.0],
        "better": "higher",
    }
    assert document["summary"]["cases"] == {
        "total": 9,
        "passed": 5,
        "failed": 3,
        "unscored": 1,
        "errors": 0,
    }
    brake = next(case for case in document["cases"] if case["case"] == "repair_brake")
    assert brake["trace"] == "regressed-repair_brake"
    assert brake["status"] == "failed"
    assert brake["scores"][0]["value"] == pytest.approx(2 / 3)
    assert brake["scores"][0]["turns"] == [1.0, 1.0, 0.0]


def test_small_run_imports_nothing_that_it_does_not_need(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)  # coverage has imports of its own
    code = """
import sys
from carob.cli import carob
try:
    carob(["run", "traces/good.otlp.jsonl", "--golden", "support.evalset.json", "--no-store"])
except SystemExit:
    pass
heavy = {"asyncio", "concurrent.futures", "importlib.metadata", "importlib.resources", "logging"}
heavy |= {"multiprocessing", "numpy", "semver", "sqlite3", "subprocess", "carob.datasets.validate"}
heavy |= {"carob.report.html", "carob.text.sensitive", "carob.traces.capture", "carob.versions"}
print(sorted(heavy & set(sys.modules)))
"""
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert process.stdout.splitlines()[-1] == "[]"


def test_unscored_cases_fail_unless_allowed():
    assert run(release="good").exit_code == 1
    assert run("--allow-unscored", release="good").exit_code == 0
    assert run("--allow-unscored", release="regressed").exit_code == 1


def test_run_without_scores_never_passes():
    result = run("-m", "contains", "--allow-unscored", "--format", "json", release="good")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["verdict"] == "inconclusive"


def test_same_input_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1772528400")
    first = run("--format", "json").stdout
    lines = Path("traces/regressed.otlp.jsonl").read_text().splitlines(keepends=True)
    Path("traces/regressed.otlp.jsonl").write_text("".join(reversed(lines)))
    assert run("--format", "json", "--jobs", "2").stdout == first
    assert json.loads(first)["created_at"] == "2026-03-03T09:00:00Z"


def test_thresholds_and_parameters_are_set_by_flag():
    result = run(
        *("-m", TRAJECTORY, "--threshold", f"{TRAJECTORY}=0.5"),
        *("--param", f"{TRAJECTORY}.match_type=IN_ORDER", "--format", "json"),
    )
    document = json.loads(result.stdout)
    assert document["metrics"][0]["threshold"] == 0.5
    assert document["metrics"][0]["params"]["match_type"] == "IN_ORDER"
    assert document["summary"]["cases"]["failed"] == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-m", "tool_trajectory_avg_scor"), "unknown metric 'tool_trajectory_avg_scor'"),
        (("-m", TRAJECTORY, "--param", f"{TRAJECTORY}.match_typ=EXACT"), "no parameter"),
        (("-m", TRAJECTORY, "--param", f"{TRAJECTORY}.match_type=EXAKT"), "match_type"),
        (("-m", TRAJECTORY, "--threshold", "rouge_l=0.5"), "'rouge_l' is not part of this run"),
        (("-m", TRAJECTORY, "--threshold", f"{TRAJECTORY}=high"), "expected a number"),
        (("-m", TRAJECTORY, "--threshold", f"{TRAJECTORY}=nan"), "found 'nan', expected a number"),
        (("-m", TRAJECTORY, "--param", f"{TRAJECTORY}=1"), "expected METRIC.NAME=VALUE"),
        (("--threshold", f"{TRAJECTORY}=7"), "the threshold is 7, expected a number from 0 to 1"),
        (("-m", "latency", "--threshold", "latency=-1"), "is -1, expected a number from 0 on"),
        (("--param", "match_type=EXACT"), "expected METRIC.NAME=VALUE"),
        (("--profile", "prep_defautl"), "unknown profile 'prep_defautl'"),
    ],
)
def test_misspelled_names_are_errors_before_anything_runs(args: tuple[str, ...], message: str):
    result = run(*args)
    assert isinstance(result.exception, UsageError)
    assert message in str(result.exception)


def test_default_metrics_can_be_configured_by_flags():
    document = json.loads(run("--threshold", f"{TRAJECTORY}=0.5", "--format", "json").stdout)
    assert {metric["name"]: metric["threshold"] for metric in document["metrics"]} == {
        TRAJECTORY: 0.5,
        "response_match_score": 0.8,
    }


def test_rows_with_recorded_answers_need_no_traces():
    result = run("-m", TRAJECTORY, "--format", "json", release="", golden="support.explain.jsonl")
    document = json.loads(result.stdout)
    assert {case["paired_by"] for case in document["cases"]} == {"the same row"}
    assert document["summary"]["cases"]["failed"] == 2
    agents = [group for group in document["summary"]["groups"] if group["by"] == "agent"]
    assert {group["value"] for group in agents} == {"front_desk", "orders", "returns", "workshop"}


def test_golden_data_without_recorded_answers_needs_traces():
    result = run(release="")
    assert isinstance(result.exception, CarobError)
    assert "pass trace files" in str(result.exception.hint)


def test_missing_trace_file_is_an_error():
    result = run(release="missing")
    assert isinstance(result.exception, CarobError)
    assert str(result.exception).startswith("traces/missing.otlp.jsonl: ")


def test_contracts_are_read_from_a_folder():
    args = ("-m", "contract", "--contracts", "contracts", "--format", "json")
    document = json.loads(run(*args, release="", golden="support.explain.jsonl").stdout)
    assert document["summary"]["metrics"]["contract"]["passed"] > 0


def test_adk_test_config_is_read():
    Path("test_config.json").write_text(
        json.dumps({"criteria": {TRAJECTORY: {"threshold": 0.6, "matchType": "IN_ORDER"}}})
    )
    document = json.loads(run("--config", "test_config.json", "--format", "json").stdout)
    assert document["metrics"][0]["threshold"] == 0.6


def test_carob_toml_is_found_and_flags_override_it():
    Path("carob.toml").write_text(
        '[run]\nmetrics = ["rouge_l"]\n\n[metrics.rouge_l]\nthreshold = 0.2\n'
    )
    assert json.loads(run("--format", "json").stdout)["metrics"][0]["threshold"] == 0.2
    flagged = run("-m", "rouge_l", "--threshold", "rouge_l=0.9", "--format", "json")
    assert json.loads(flagged.stdout)["metrics"][0]["threshold"] == 0.9


def test_text_shows_failures_first_with_expected_and_actual():
    lines = run().stdout.splitlines()
    counts = "4 failed, 1 not applicable, 4 passed of 9"
    assert lines[0].startswith(f"failed: bike_shop_support: {counts}")
    assert (
        "    turn 3: book_repair: slot: expected '2026-03-05T09:00', got '2026-03-05T11:00'"
        in lines
    )
    assert any(line.startswith("    actual    Done: brake service") for line in lines)


def test_csv_has_a_row_for_each_score():
    rows = list(csv.DictReader(io.StringIO(run("--format", "csv").stdout)))
    assert len(rows) == 18
    assert rows[0]["case"] == "order_status"
    assert rows[0]["metric"] == TRAJECTORY


def test_text_of_agents_is_escaped_in_markdown():
    text = Path("traces/regressed.otlp.jsonl").read_text()
    hostile = "<img src=x onerror=alert(1)> [a](http://x) | `"
    Path("traces/regressed.otlp.jsonl").write_text(text.replace("create_return", hostile))
    output = run("--format", "md").stdout
    assert "\\<img src=x" in output
    assert "<img" not in output.replace("\\<img", "")


def test_output_can_go_to_a_file():
    result = run("--format", "json", "-o", "run.json")
    assert result.stdout == ""
    assert json.loads(Path("run.json").read_text())["verdict"] == "failed"


def test_every_case_is_crossed_with_every_trace():
    document = json.loads(run("--cross", "--format", "json").stdout)
    assert len(document["cases"]) == 81


def test_error_in_the_config_names_the_config():
    config = Path("test_config.json")
    config.write_text(f'{{"criteria": {{"{TRAJECTORY}": {{"threshold": 1, "match_type": "X"}}}}}}')
    message = str(run("-c", str(config)).exception)
    assert message.startswith(f"test_config.json: metric '{TRAJECTORY}': match_type: found 'X'")
    flagged = str(run("-c", str(config), "-m", "respons_match_score").exception)
    assert flagged.startswith("unknown metric 'respons_match_score'")


def test_repeated_golden_data_is_an_error_and_never_silently_the_last():
    golden = ["--golden", "support.evalset.json", "-g", "support.csv"]
    error = CliRunner().invoke(carob, ["run", "traces/good.otlp.jsonl", *golden]).exception
    assert isinstance(error, UsageError)
    assert str(error) == "--golden may be passed only once"


def test_run_without_golden_data_says_so_first():
    result = CliRunner().invoke(carob, ["run", "traces/good.otlp.jsonl", "--no-store"])
    assert result.stdout.splitlines()[1].startswith("no golden data: pass --golden")


@pytest.mark.parametrize(
    ("golden", "line"),
    [
        (
            "support.evalset.json",
            "metrics: tool_trajectory_avg_score, response_match_score (ADK's defaults)",
        ),
        (
            "support_golden.json",
            (
                "metrics: tool_usage_accuracy, trajectory_accuracy, state_management_fidelity, "
                "agent_routing, factuality, completeness, contains "
                "(from the expectations of questions data)"
            ),
        ),
        (
            "support.csv",
            "metrics: relevance, factuality, completeness (from the expectations of csv data)",
        ),
    ],
)
def test_one_line_says_which_metrics_were_chosen(golden: str, line: str):
    result = run("--no-store", "--format", "json", golden=golden)
    assert result.stderr.splitlines() == [line]
    assert [metric["name"] for metric in json.loads(result.stdout)["metrics"]] == [
        name.strip() for name in line.removeprefix("metrics: ").partition("(")[0].split(",")
    ]


def test_nothing_is_chosen_if_metrics_are_named():
    assert run("-m", TRAJECTORY, "--no-store").stderr == ""


def test_profile_runs_its_metrics():
    Path("short.toml").write_text(
        'name = "short"\nscale = [0, 1]\ncomposite = 0.5\n'
        "[metrics.conciseness]\nthreshold = 0.5\nweight = 1\n"
    )
    result = run("--profile", "short.toml", "--no-store", "--format", "json", "--limit", "1")
    document = json.loads(result.stdout)
    assert document["metrics"][0]["name"] == "conciseness"
    assert document["cases"][0]["judgement"]["profile"] == "short"
    assert result.stderr.startswith("metrics: conciseness (from the profile short); ")


def test_judges_of_a_profile_need_a_model():
    error = run("--profile", "prep_default", "--no-store").exception
    assert isinstance(error, UsageError)
    assert error.message.startswith("no judge is configured for TaskAdherence")


def test_evals_without_a_judge_are_unscored_with_the_reason():
    args = ("--no-store", "--format", "json", "--case", "orders-001")
    result = run(*args, release="", golden="support.explain.jsonl")
    scores = {score["metric"]: score for score in json.loads(result.stdout)["cases"][0]["scores"]}
    assert result.exit_code == 1
    assert scores["TaskAdherence"]["status"] == "unscored"
    assert "no judge is configured" in scores["TaskAdherence"]["reason"]
    assert scores["tool_usage_accuracy"]["status"] == "passed"


def test_cases_can_be_selected():
    args = ("-m", TRAJECTORY, "--no-store", "--format", "json")
    document = json.loads(run(*args, "--case", "order_status", "--case", "return_helmet").stdout)
    assert [result["case"] for result in document["cases"]] == ["order_status", "return_helmet"]
    assert document["selection"] == {"cases": ["order_status", "return_helmet"], "total": 9}
    assert document["unmatched"] == []
    document = json.loads(run(*args, "--where", "len(turns) > 1", "--limit", "1").stdout)
    assert [result["case"] for result in document["cases"]] == ["return_helmet"]


def test_first_line_says_that_cases_were_selected():
    result = run("-m", TRAJECTORY, "--no-store", "--limit", "2", release="good")
    assert ": 2 passed of 2, selected from 9 (run-" in result.stdout.splitlines()[0]


def test_run_is_broken_down_by_metadata():
    result = run(
        "-m", "contains", "--no-store", "--by", "criticality", golden="support_golden.json"
    )
    assert any(line.startswith("criticality ") for line in result.stdout.splitlines())
    error = run("--no-store", "--by", "critcality", golden="support_golden.json").exception
    assert isinstance(error, UsageError)
    assert error.hint == "did you mean 'criticality'?"


def test_dry_run_estimates_the_chosen_judges():
    args = ("--dry-run", "--judge", "openai:gpt-4.1-mini", "--no-store", "--format", "json")
    result = run(*args, release="", golden="support.explain.jsonl")
    assert "TaskAdherence" in result.stdout


def test_report_is_broken_down_by_what_the_run_has():
    run(
        *("-m", "contains", "--no-store", "--by", "criticality", "--format", "json"),
        *("-o", "run.json"),
        golden="support_golden.json",
    )
    output = CliRunner().invoke(carob, ["report", "run.json", "--by", "criticality"])
    assert any(line.startswith("criticality ") for line in output.stdout.splitlines())
    error = CliRunner().invoke(carob, ["report", "run.json", "--by", "tags"]).exception
    assert isinstance(error, UsageError)
    assert str(error.hint).startswith("did you mean 'tag'?")


def test_eval_set_is_another_name_of_golden():
    args = ["run", "traces/regressed.otlp.jsonl", "-m", TRAJECTORY, "--format", "json"]
    result = CliRunner().invoke(carob, [*args, "--eval-set", "support.evalset.json"])
    assert json.loads(result.stdout)["dataset"]["name"] == "bike_shop_support"


def test_mapping_of_the_named_config_applies_to_the_golden_data():
    Path("other.toml").write_text(
        '[map]\ninput = "frage"\nexpected = "antwort"\n', encoding="utf-8"
    )
    Path("faq.csv").write_text("frage,antwort\nDo you repair e-bikes?,Yes.\n", encoding="utf-8")
    assert isinstance(run("-m", "rouge_l", golden="faq.csv").exception, CarobError)
    result = run("-m", "rouge_l", "-c", "other.toml", "--format", "json", golden="faq.csv")
    assert json.loads(result.stdout)["dataset"]["format"].startswith("rows:input=frage")
    sarif = run("-m", "rouge_l", "-c", "other.toml", "--format", "sarif", golden="faq.csv")
    assert "faq.csv" in sarif.stdout


MAPPED = "input=frage,expected=soll,user=anfrage,response=antwort"


def call(*args: str) -> Result:
    return CliRunner().invoke(carob, [*args])


@pytest.fixture
def mapped() -> None:
    Path("g.csv").write_text("frage;soll\nWann öffnen Sie?;Um 9:00 Uhr.\n", encoding="cp1252")
    Path("log.csv").write_text("anfrage;antwort\nWann öffnen Sie?;Um 9:00 Uhr.\n", "utf-8")


@pytest.mark.usefixtures("mapped")
def test_one_mapping_names_the_fields_of_golden_rows_and_of_logs():
    result = call("run", "log.csv", "--golden", "g.csv", "--map", MAPPED, "-m", "exact_match")
    assert result.exit_code == 0, result.output
    assert "1 passed" in result.output


@pytest.mark.usefixtures("mapped")
def test_mapping_in_the_config_is_for_logs_as_well():
    pairs = [pair.partition("=") for pair in MAPPED.split(",")]
    lines = [f'{field} = "{name}"' for field, _, name in pairs]
    Path("carob.toml").write_text("\n".join(["[map]", *lines]))
    result = call("run", "log.csv", "--golden", "g.csv", "-m", "exact_match")
    assert result.exit_code == 0, result.output
    assert call("traces", "log.csv").exit_code == 0
    assert call("capture", "log.csv", "new.json", "--to", "adk").exit_code == 0
    assert call("validate", "g.csv").exit_code == 0


@pytest.mark.usefixtures("mapped")
def test_unknown_field_of_a_mapping_is_an_error_before_anything_runs():
    result = call("run", "log.csv", "--golden", "g.csv", "--map", "frage=input")
    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == "expected FIELD=NAME in a mapping, got 'frage=input'"
