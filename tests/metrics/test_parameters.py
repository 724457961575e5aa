from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from carob.errors import UsageError
from carob.metrics import Metric, build, metric_parameters, parameters
from carob.metrics.safety.safety import Safety
from carob.metrics.text.contract import Contract
from carob.metrics.text.matching import Regex
from carob.metrics.text.response_match import ResponseMatch
from carob.metrics.text.semantic import SemanticSimilarity
from carob.metrics.tools.accuracy import ToolUsage
from carob.metrics.tools.trajectory import ToolTrajectory
from carob.metrics.usage.cost import Cost

ROOT = Path(__file__).parents[2]
TOOL_USAGE: dict[str, type[Metric]] = {"tool_usage_accuracy": ToolUsage}
KNOWN: dict[str, type[Metric]] = {kind.name: kind for kind in (ResponseMatch, ToolTrajectory)}


def refused(name: str, **params: object) -> UsageError:
    with pytest.raises(UsageError) as caught:
        build(name, params, KNOWN)  # pyright: ignore[reportArgumentType] - wrong on purpose
    return caught.value


def test_parameters_may_be_written_in_camel_case():
    metric = build(
        "tool_trajectory_avg_score", {"matchType": "IN_ORDER", "ignoreArgs": True}, KNOWN
    )
    assert metric == ToolTrajectory(match_type="IN_ORDER", ignore_args=True)


def test_misspelled_metric_is_rejected_with_a_suggestion():
    error = refused("tool_trajectory_avg_scor")
    assert error.message == "unknown metric 'tool_trajectory_avg_scor'"
    assert error.hint == "did you mean 'tool_trajectory_avg_score'?"


def test_a_threshold_or_a_parameter_in_the_name_of_a_metric_is_explained():
    for name in ("response_match_score=0.5", "response_match_score:lang=de"):
        assert refused(name).hint == (
            "name 'response_match_score' alone; its threshold and parameters are separate options"
        )


def test_unknown_metric_is_rejected_with_all_known_names():
    hint = refused("zzz").hint
    assert hint == "known: response_match_score, tool_trajectory_avg_score"


def test_all_metrics_that_differ_only_in_case_are_named():
    metrics = {"Relevance": ResponseMatch, "relevance": ToolTrajectory}
    with pytest.raises(UsageError) as caught:
        build("RELEVANCE", {}, metrics)
    assert caught.value.hint == "did you mean 'Relevance' or 'relevance'?"


def test_misspelled_parameter_is_rejected_with_a_suggestion():
    error = refused("tool_trajectory_avg_score", match_typ="EXACT")
    assert error.message == "metric 'tool_trajectory_avg_score' has no parameter 'match_typ'"
    assert error.hint == "did you mean 'match_type'?"


def test_parameter_of_a_metric_without_parameters_is_rejected():
    assert refused("response_match_score", stemmer=True).hint == "it takes no parameters"


def test_parameter_in_both_spellings_is_rejected():
    error = refused("tool_trajectory_avg_score", matchType="EXACT", match_type="EXACT")
    assert "given twice" in error.message


@pytest.mark.parametrize("value", ["exact", "EXACTLY", 3, None, True])
def test_error_for_an_unknown_match_type_names_the_parameter(value: object):
    error = refused("tool_trajectory_avg_score", match_type=value)
    assert re.match(r"metric 'tool_trajectory_avg_score': match_type: ", error.message)


def test_wrong_type_is_rejected():
    error = refused("tool_trajectory_avg_score", ignore_args="yes")
    assert "ignore_args: Expected `bool`, got `str`" in error.message


def test_missing_package_is_reported_before_the_run(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ResponseMatch, "imports", ("no_such_package",))
    error = refused("response_match_score")
    assert "needs the package 'no_such_package'" in error.message
    assert error.hint == "pip install no_such_package"


def test_missing_packages_of_several_metrics_are_reported_together(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(ResponseMatch, "imports", ("no_such_package",))
    monkeypatch.setattr(ToolTrajectory, "imports", ("nor_this_one", "no_such_package"))
    with pytest.raises(UsageError) as caught:
        parameters.check_packages([ResponseMatch, ToolTrajectory])
    assert caught.value.message == (
        "metrics 'response_match_score', 'tool_trajectory_avg_score' need packages"
        " that are not installed: no_such_package, nor_this_one"
    )
    assert caught.value.hint == "pip install no_such_package nor_this_one"


@pytest.mark.parametrize("kind", [Contract, Cost, Regex, Safety, SemanticSimilarity])
def test_hint_names_an_extra_that_contains_the_missing_package(
    kind: type[Metric], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(parameters, "find_spec", dict[str, None]().get)
    with pytest.raises(UsageError) as caught:
        build(kind.name, {}, {kind.name: kind})
    extra = re.fullmatch(r".*pip install '(?:carob|\.)\[(\w+)]'", caught.value.hint or "")
    assert extra
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    brought = " ".join(packages["optional-dependencies"][extra[1]]).replace("-", "_")
    assert all(package in brought for package in kind.imports)


def test_parameters_are_json_that_builds_the_same_metric():
    metric = ToolTrajectory(match_type=2, args="any")
    assert build(metric.name, metric_parameters(metric), KNOWN) == metric


def test_parameters_include_defaults():
    stated = build("tool_trajectory_avg_score", {"match_type": "EXACT"}, KNOWN)
    silent = build("tool_trajectory_avg_score", {}, KNOWN)
    assert metric_parameters(stated) == metric_parameters(silent)
    assert metric_parameters(silent) == {
        "match_type": "EXACT",
        "ignore_args": False,
        "args": "exact",
    }


@pytest.mark.parametrize("spelling", ["IN_ORDR", "in_order", "InOrder"])
def test_unknown_match_type_is_rejected_with_a_suggestion(spelling: str):
    error = refused("tool_trajectory_avg_score", match_type=spelling)
    assert f"match_type: found '{spelling}', expected one of EXACT, IN_ORDER, " in error.message
    assert error.hint == "did you mean 'IN_ORDER'?"


def test_unknown_choice_within_a_parameter_is_rejected_with_a_suggestion():
    with pytest.raises(UsageError) as caught:
        build("tool_usage_accuracy", {"comparators": {"city": "regx"}}, TOOL_USAGE)
    assert "comparators: found 'regx', expected one of exact, regex, " in caught.value.message
    assert caught.value.hint == "did you mean 'regex'?"


def test_missing_required_parameter_is_named():
    with pytest.raises(UsageError) as caught:
        build("regex", {}, {"regex": Regex})
    assert caught.value.message == "metric 'regex' needs the parameter 'pattern'"
    assert caught.value.hint == "such as --param regex.pattern=…"
