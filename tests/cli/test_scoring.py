from __future__ import annotations

import json

from click.testing import CliRunner, Result

from carob.cli import carob
from carob.errors import CarobError


def metrics(*args: str) -> Result:
    return CliRunner().invoke(carob, ["metrics", *args])


def test_all_metrics_are_listed_with_what_they_need():
    listed = metrics().stdout
    assert "response_match_score@3  offline, 0 to 1, higher is better, threshold 0.8\n" in listed
    assert "  parameters: match_type, ignore_args, args\n" in listed


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
