from __future__ import annotations

from pathlib import Path

import pytest

from carob.api.running.default_metrics import add_default_metrics, choose_metrics
from carob.api.running.plan import Profiles
from carob.api.settings import NO_CONFIG
from carob.config import MetricChoice
from carob.errors import UsageError
from carob.policy.profile import MetricRequirement, Profile
from carob.schema import Case, Rubric, SourceDocument, ToolCall, Turn

ADK = ("tool_trajectory_avg_score", "response_match_score")


def case(format: str | None = None, **fields: object) -> Case:
    origin = SourceDocument(format=format, doc=None) if format else None
    return Case(id="a", origin=origin, **fields)  # pyright: ignore[reportArgumentType] - fields of a case


def answered(format: str | None = None, **fields: object) -> Case:
    return case(format, turns=(Turn(user="Open?", response="Yes."),), **fields)


def names(*cases: Case, profile: str | None = None) -> tuple[str, ...]:
    return choose_metrics(cases, Profiles(profile)).names


def test_questions_get_metrics_for_what_they_expect():
    question = case(
        "questions",
        tool_calls=(ToolCall(name="search"),),
        trajectory=("desk",),
        state={"city": "Bern"},
        agents=("desk",),
    )
    chosen = choose_metrics([question], Profiles())
    assert str(chosen) == (
        "metrics: tool_usage_accuracy, trajectory_accuracy, state_management_fidelity, "
        "agent_routing (from the expectations of questions data)"
    )
    assert names(case("questions", agents=("desk",))) == ("agent_routing",)


@pytest.mark.parametrize("format", ["examples", "csv"])
def test_examples_get_text_metrics(format: str):
    assert names(answered(format)) == ("relevance", "factuality", "completeness")


def test_empty_list_of_calls_is_an_expectation():
    assert names(case(turns=(Turn(user="Hi", tool_calls=()),))) == ("tool_usage_accuracy",)


def test_stated_texts_and_contracts_are_checked():
    assert names(case(contains=("10:00",), contract="Answer")) == ("contains", "contract")


@pytest.mark.parametrize("format", ["adk", "adk-history", "test"])
def test_only_adk_data_gets_the_defaults_of_adk(format: str):
    assert names(answered(format, state={"a": 1})) == ADK
    assert not {*ADK} & {*names(answered())}


def test_explain_rows_get_their_evals_and_metrics_of_their_expectations():
    turn = Turn(user="Plan?", response='{"a": 1}', tool_calls=())
    evals = ("RelevanceExplain", "TaskAdherenceExplain")
    row = case("explain", turns=(turn,), metrics=evals, agents=("planner",), contract="Plan")
    chosen = choose_metrics([row, row], Profiles())
    assert str(chosen) == (
        "metrics: Relevance, TaskAdherence (required by the cases); "
        "tool_usage_accuracy, contract (from the expectations of explain data)"
    )


def test_unknown_eval_is_an_error_with_the_case_that_requires_it():
    with pytest.raises(UsageError, match="case 'a': unknown metric 'RelevantExplain'") as caught:
        names(case(metrics=("RelevantExplain",)))
    assert "did you mean 'Relevance'" in str(caught.value.hint)


def test_eval_may_be_a_metric_of_the_config():
    chosen = choose_metrics([case(metrics=("Tone",))], Profiles(), frozenset({"Tone"}))
    assert chosen.names == ("Tone",)


def test_profile_for_all_cases_adds_its_metrics():
    chosen = choose_metrics([answered("adk")], Profiles("prep_default"))
    assert {"TaskAdherence", "Empathy", *ADK} <= {*chosen.names}
    assert "(from the profile prep_default); tool_trajectory_avg_score" in str(chosen)


def test_case_with_a_profile_and_no_evals_gets_the_metrics_of_the_profile():
    assert "Fluency" in names(answered(profile="prep_default"))
    assert "Fluency" not in names(answered(profile="prep_default", metrics=("Empathy",)))


def test_cases_that_expect_nothing_are_an_error():
    with pytest.raises(UsageError, match="no metric chosen: the cases expect nothing"):
        names(case("questions", turns=(Turn(user="Hi"),)))


def test_choice_does_not_depend_on_the_order_of_cases():
    cases = [case(state={"a": 1}), answered("csv"), case("questions", tool_calls=())]
    assert names(*cases) == names(*reversed(cases))


def test_named_metrics_are_never_replaced():
    config = NO_CONFIG.__class__(source="", dialect="carob", metrics=(MetricChoice(name="bleu"),))
    assert add_default_metrics(config, [answered()]) == (config, None)


def test_thresholds_and_parameters_apply_to_chosen_metrics():
    config, chosen = add_default_metrics(
        NO_CONFIG,
        [answered("csv", contract="Answer")],
        thresholds={"factuality": "0.5"},
        contracts=None,
    )
    assert chosen
    assert [choice.threshold for choice in config.metrics] == [None, 0.5, None, None]
    with pytest.raises(UsageError, match="'bleu' is not part of this run"):
        add_default_metrics(NO_CONFIG, [answered()], thresholds={"bleu": "0.5"})


def test_contracts_apply_to_the_chosen_contract_metric(tmp_path: Path):
    (tmp_path / "Answer.json").write_text('{"type": "object"}')
    config, _ = add_default_metrics(NO_CONFIG, [case(contract="Answer")], contracts=tmp_path)
    assert config.metrics[0].params == {"contracts": {"Answer": {"type": "object"}}}


def test_profile_for_all_cases_may_be_one_of_the_config():
    requirement = MetricRequirement(threshold=0.5, weight=1)
    own = Profile(name="own", scale=(0, 1), composite=0.5, metrics={"bleu": requirement})
    chosen = choose_metrics([answered()], Profiles("own", {"own": own}))
    assert chosen.names == ("bleu", "factuality", "completeness")


def test_assertions_of_a_case_are_checked():
    stated = {"assertions": [{"type": "icontains", "value": "yes"}]}
    assert names(case(reference=stated)) == ("assertions",)


def test_cases_with_rubrics_only_need_a_judge():
    with pytest.raises(UsageError, match="rubrics, which only a judge can score") as caught:
        names(case(rubrics=(Rubric(id="r", text="Polite"),)))
    assert "--judge PROVIDER:MODEL" in str(caught.value.hint)
