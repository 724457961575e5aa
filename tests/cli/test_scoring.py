from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

import carob as carob_package
from carob.cli import carob
from carob.errors import CarobError

DATA = Path(carob_package.__file__).parent / "demo" / "data"


def metrics(*args: str) -> Result:
    return CliRunner().invoke(carob, ["metrics", *args])


def test_all_metrics_are_listed_with_what_they_need():
    listed = metrics().stdout
    rows = {line.split()[0]: line for line in listed.splitlines() if line}
    assert rows["response_match_score"].split()[1:4] == ["0.8", "response", "Share"]
    assert rows["latency"].split()[1:3] == ["–", "–"]
    assert rows["judged"].split()[:2] == ["judged", "metric"]


def names(*args: str) -> set[str]:
    document = json.loads(metrics(*args, "--format", "json").stdout)
    return {metric["name"] for metric in document["metrics"]}


def test_metrics_are_filtered_by_what_they_need():
    assert names("--needs", "golden", "--offline") >= {"rouge_l", "tool_trajectory_avg_score"}
    assert not names("--needs", "golden") & {"latency", "Coherence"}
    assert names("--needs", "case.response", "--needs", "user", "--judged") == {
        "final_response_match_v2",
        "response_correctness",
    }


def test_unknown_need_gets_a_suggestion():
    error = metrics("--needs", "case.respnse").exception
    assert isinstance(error, CarobError)
    assert error.hint == "did you mean 'case.response'?"


def test_metrics_are_filtered_by_the_data_of_files():
    golden, traces = str(DATA / "support.examples.json"), str(DATA / "traces" / "good.otlp.jsonl")
    of_golden = names("--for", golden, "--offline")
    assert "rouge_l" in of_golden
    assert not of_golden & {"trajectory_accuracy", "contract"}
    of_both = names("--for", golden, "--for", traces, "--offline")
    assert of_both < of_golden
    assert of_both >= {"rouge_l", "latency"}
    assert "state_management_fidelity" not in names("--for", traces)


def test_recorded_answers_are_data_too():
    recorded = names("--for", str(DATA / "support.explain.jsonl"), "--offline")
    assert "tool_usage_accuracy" in recorded
    assert "token_usage" not in recorded


def test_named_metrics_are_described_with_their_parameters():
    output = metrics("tool_trajectory_avg_score").stdout
    assert "`IN_ORDER` (the expected calls in their" in output
    assert "  --param tool_trajectory_avg_score.match_type=EXACT\n" in output
    (description,) = json.loads(metrics("rouge_l", "--format", "json").stdout)["metrics"]
    assert description["name"] == "rouge_l"


def test_misspelled_metric_gets_a_suggestion():
    error = metrics("rouge").exception
    assert isinstance(error, CarobError)
    assert (error.message, error.hint) == ("unknown metric 'rouge'", "did you mean 'rouge_l'?")


def test_unknown_parameter_hints_at_the_description():
    args = ["run", "x.json", "-m", "tool_trajectory_avg_score"]
    wrong = ["--param", "tool_trajectory_avg_score.match_type=LOOSE"]
    error = CliRunner().invoke(carob, [*args, *wrong]).exception
    assert isinstance(error, CarobError)
    assert error.hint == "`carob metrics tool_trajectory_avg_score` describes its parameters"


def test_metrics_are_found_by_the_names_of_other_tools():
    assert CliRunner().invoke(carob, ["list-metrics"]).stdout == metrics().stdout
    assert metrics("RelevanceExplain").stdout == metrics("Relevance").stdout
    assert "list-metrics" not in CliRunner().invoke(carob, ["--help"]).stdout
