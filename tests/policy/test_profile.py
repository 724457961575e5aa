from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carob.errors import FormatError, InputError, UsageError
from carob.policy.profile import (
    HardFail,
    MetricRequirement,
    Profile,
    canonical_name,
    find_profile,
    load_profile,
    load_profiles,
)

OWN: dict[str, Any] = {
    "name": "counter",
    "scale": [0, 1],
    "composite": 0.7,
    "metrics": {
        "tool_recall": {"threshold": 0.5, "weight": 2},
        "politeness": {"threshold": 0.8, "weight": 1},
    },
    "hard_fail": {"below": 0.2, "metrics": ["tool_recall"], "contract": True},
}


def written(folder: Path, **changes: object) -> str:
    path = folder / "own.json"
    path.write_text(json.dumps({**OWN, **changes}))
    return str(path)


@pytest.mark.parametrize(
    ("name", "composite", "weights"),
    [
        ("prep_default", 3.65, [0.20, 0.15, 0.10, 0.15, 0.10, 0.10, 0.10, 0.05, 0.05]),
        ("assessment_strict", 3.70, [0.22, 0.13, 0.12, 0.14, 0.10, 0.12, 0.08, 0.03, 0.06]),
    ],
)
def test_builtin_profiles_are_loaded(name: str, composite: float, weights: list[float]):
    profile = load_profile(name)
    assert (profile.name, profile.scale, profile.composite) == (name, (1, 5), composite)
    assert [demand.weight for demand in profile.metrics.values()] == weights
    assert {name: demand.threshold for name, demand in profile.metrics.items()} == {
        "TaskAdherence": 3.7,
        "IntentResolution": 3.6,
        "ToolCallAccuracy": 3.5,
        "Relevance": 3.6,
        "Coherence": 3.6,
        "PerceivedIntelligence": 3.5,
        "Fluency": 3.7,
        "Empathy": 3.2,
        "Helpfulness": 3.7,
    }
    hard = ("TaskAdherence", "IntentResolution", "ToolCallAccuracy")
    assert profile.hard_fail == HardFail(below=3.0, metrics=hard, contract=True)


def test_profile_is_loaded_from_a_file(tmp_path: Path):
    assert load_profile(written(tmp_path)) == Profile(
        name="counter",
        scale=(0, 1),
        composite=0.7,
        metrics={
            "tool_recall": MetricRequirement(threshold=0.5, weight=2),
            "politeness": MetricRequirement(threshold=0.8, weight=1),
        },
        hard_fail=HardFail(below=0.2, metrics=("tool_recall",), contract=True),
    )


def test_profile_without_a_name_is_named_after_its_file(tmp_path: Path):
    assert load_profile(written(tmp_path, name=None)).name == "own"


def test_limits_may_be_the_ends_of_the_scale(tmp_path: Path):
    metrics = {
        "lowest": {"threshold": 0, "weight": 1},
        "highest": {"threshold": 1, "weight": 0},
    }
    path = written(tmp_path, composite=1, metrics=metrics, hard_fail={"below": 0})
    profile = load_profile(path)
    assert [demand.threshold for demand in profile.metrics.values()] == [0, 1]
    assert (profile.composite, profile.hard_fail.below) == (1, 0)


def test_profile_without_hard_fails_has_none(tmp_path: Path):
    assert load_profile(written(tmp_path, hard_fail=None)).hard_fail == HardFail()


def test_unknown_profile_is_rejected_with_a_suggestion():
    with pytest.raises(UsageError, match="unknown profile 'prep_defualt'") as caught:
        load_profile("prep_defualt")
    assert caught.value.hint == "did you mean 'prep_default'?"


def test_missing_file_is_reported(tmp_path: Path):
    for name in ("none.toml", "none.json"):
        with pytest.raises(InputError, match=f"{name}: no such file"):
            load_profile(str(tmp_path / name))


def test_profile_name_from_data_is_never_a_path(tmp_path: Path):
    with pytest.raises(UsageError, match="unknown profile"):
        find_profile(written(tmp_path), {})


def test_profile_of_the_user_is_found_by_name(tmp_path: Path):
    path = written(tmp_path)
    assert find_profile("counter", load_profiles([path])) == load_profile(path)
    with pytest.raises(UsageError, match="duplicate profile 'counter'"):
        load_profiles([path, path])


@pytest.mark.parametrize(
    ("changes", "message", "hint"),
    [
        ({"compsite": 1}, "compsite: unknown key 'compsite'", "did you mean 'composite'?"),
        ({"scale": None}, "missing key 'scale'", None),
        (
            {"scale": [5, 1]},
            "scale: expected the lowest and highest value, got [5.0, 1.0]",
            "write [1, 5]",
        ),
        ({"scale": [1, 1]}, "scale: expected the lowest and highest value", "write [1, 5]"),
        ({"composite": "high"}, "composite: expected a number, got 'high'", None),
        ({"composite": 3.65}, "composite: 3.65 is not on the scale from 0 to 1", None),
        ({"metrics": {}}, "metrics: no metric has a weight", None),
        (
            {"metrics": {"a": {"threshold": 0.5, "wieght": 1}}},
            "metrics.a.wieght: unknown key 'wieght'",
            "did you mean 'weight'?",
        ),
        (
            {"metrics": {"a": {"threshold": 3.7, "weight": 1}}},
            "metrics.a.threshold: 3.7 is not on the scale from 0 to 1",
            None,
        ),
        ({"metrics": {"a": {"weight": 1}}}, "metrics.a: missing key 'threshold'", None),
        ({"metrics": {"a": {"threshold": 0.5}}}, "metrics.a: missing key 'weight'", None),
        ({"composite": None}, "missing key 'composite'", None),
        ({"metrics": None}, "missing key 'metrics'", None),
        (
            {"metrics": {"a": {"threshold": 0.5, "weight": -1}}},
            "metrics.a.weight: expected 0 or more, got -1",
            None,
        ),
        ({"hard_fail": {"metrics": ["tool_recall"]}}, "hard_fail: missing key 'below'", None),
        (
            {"hard_fail": {"below": 0.1, "metrics": ["tool_recal"]}},
            "hard_fail.metrics: 'tool_recal' is not a metric of the profile",
            "did you mean 'tool_recall'?",
        ),
        (
            {"hard_fail": {"below": 0.1, "metrics": ["latency"]}},
            "hard_fail.metrics: 'latency' is not a metric of the profile",
            "metrics of the profile: tool_recall, politeness",
        ),
    ],
)
def test_error_names_the_key(
    tmp_path: Path, changes: dict[str, object], message: str, hint: str | None
):
    with pytest.raises(FormatError) as caught:
        load_profile(written(tmp_path, **changes))
    assert message in str(caught.value)
    assert (hint or "") in (caught.value.hint or "")


def test_both_names_of_an_eval_are_one_metric(tmp_path: Path):
    assert canonical_name("RelevanceExplain") == canonical_name("Relevance") == "Relevance"
    demand = {"threshold": 0.5, "weight": 1}
    metrics = {"Relevance": demand, "RelevanceExplain": demand}
    with pytest.raises(
        FormatError, match=r"metrics\.RelevanceExplain: duplicate metric 'Relevance'"
    ):
        load_profile(written(tmp_path, metrics=metrics))


def test_metric_without_weight_is_allowed_and_a_limit_off_the_scale_is_not(tmp_path: Path):
    metrics = {"tool_recall": {"threshold": 0.5, "weight": 0}, "a": {"threshold": 0.5, "weight": 1}}
    profile = load_profile(written(tmp_path, metrics=metrics))
    assert profile.metrics["tool_recall"].weight == 0
    with pytest.raises(FormatError, match=r"below: 1\.5 is not on the scale from 0 to 1"):
        load_profile(written(tmp_path, hard_fail={"below": 1.5}))
    contract_only = load_profile(written(tmp_path, hard_fail={"contract": True}))
    assert (contract_only.hard_fail.below, contract_only.hard_fail.contract) == (None, True)
