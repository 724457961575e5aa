from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from carob.analysis.align import align
from carob.schema import CaseScore, JudgeSpec, MetricSpec, ProfileVerdict, Run

MakeRun = Callable[..., Run]


def test_cases_are_paired_if_they_ask_and_expect_the_same(run: MakeRun):
    before = run({"same": 1.0, "edited": 1.0, "gone": 1.0}, dataset="sha256:1")
    after = run({"same": 1.0, "edited": 1.0, "new": 1.0}, digests={"edited": "other"}, dataset="2")
    found = align(before, after)
    assert [one.case for one in found.pairs] == ["same"]
    assert (found.cases.added, found.cases.removed, found.cases.changed) == (
        ("new",),
        ("gone",),
        ("edited",),
    )


def test_without_fingerprints_only_the_same_golden_data_can_be_compared(run: MakeRun):
    def bare(made: Run) -> Run:
        cases = [msgspec.structs.replace(one, digest=None) for one in made.cases]
        return msgspec.structs.replace(made, cases=tuple(cases))

    one, same, other = (bare(run({"a": 1.0}, dataset=digest)) for digest in ("1", "1", "2"))
    assert align(one, same).cases.same == 1
    assert align(one, other).cases.changed == ("a",)


def test_another_version_of_golden_data_is_named(run: MakeRun):
    (change,) = align(run({"a": 1.0}, dataset="1"), run({"a": 1.0}, dataset="2")).changed_inputs
    assert (change.what, change.field, change.before, change.after) == (
        "dataset",
        "digest",
        "1",
        "2",
    )


def test_a_metric_of_another_version_is_not_compared(run: MakeRun):
    found = align(run({"a": 1.0}), run({"a": 1.0}, version=2))
    (change,) = found.changed_inputs
    assert found.specs == {}
    assert (change.name, change.field, change.before, change.after) == ("recall", "version", 1, 2)
    assert change.effect == "not compared"


def test_a_parameter_that_changed_is_named(run: MakeRun):
    before, after = run({"a": 1.0}), run({"a": 1.0})
    use = msgspec.structs.replace(after.metrics[0], params={"order": "any"})
    found = align(before, msgspec.structs.replace(after, metrics=(use,)))
    (change,) = found.changed_inputs
    assert (change.field, change.before, change.after) == ("params.order", None, "any")


@pytest.mark.parametrize("field", ["model", "prompt", "rubric"])
def test_scores_of_another_judge_are_not_compared(run: MakeRun, field: str):
    def by(judge: JudgeSpec) -> Run:
        made = run({"a": 1.0})
        use = msgspec.structs.replace(made.metrics[0], judge=judge)
        return msgspec.structs.replace(made, metrics=(use,))

    judge = JudgeSpec(model="openai:small", params={"temperature": 0}, prompt="p", rubric="r")
    found = align(by(judge), by(msgspec.structs.replace(judge, **{field: "another"})))
    assert found.specs == {}
    assert [one.field for one in found.changed_inputs] == [f"judge.{field}"]
    assert align(by(judge), by(judge)).changed_inputs == ()


def test_a_metric_of_one_run_only_is_named(run: MakeRun):
    before, after = run({"a": 1.0}), run({"a": 1.0})
    use = MetricSpec("bleu", 1, {}, None, (0.0, 1.0), "higher")
    found = align(before, msgspec.structs.replace(after, metrics=(*after.metrics, use)))
    (change,) = found.changed_inputs
    assert (change.name, change.field, change.before, change.after) == ("bleu", "uses", 0, 1)
    assert [*found.specs] == ["recall"]


def test_a_metric_that_a_run_uses_twice_cannot_be_told_apart(run: MakeRun):
    one = run({"a": 1.0})
    twice = msgspec.structs.replace(one, metrics=one.metrics * 2)
    assert align(twice, twice).specs == {}


def test_another_threshold_leaves_the_scores_comparable_but_not_the_verdicts(run: MakeRun):
    found = align(run({"a": 0.6}, threshold=0.5), run({"a": 0.6}, threshold=0.7))
    assert [*found.specs] == ["recall"]
    assert found.same_threshold == frozenset()
    assert not found.verdicts
    assert found.changed_inputs[0].effect == "scores are compared, pass rates are not"


def test_verdicts_are_made_anew_from_what_both_runs_share(run: MakeRun):
    before = run({"a": 1.0})
    use = MetricSpec("bleu", 1, {}, 0.5, (0.0, 1.0), "higher")
    failed = CaseScore(metric="bleu", status="failed", value=0.1, threshold=0.5)
    result = msgspec.structs.replace(
        before.cases[0], status="failed", scores=(*before.cases[0].scores, failed)
    )
    after = msgspec.structs.replace(before, metrics=(*before.metrics, use), cases=(result,))
    found = align(before, after)
    assert found.verdicts
    assert found.pairs[0].after[0].status == "passed"


def test_another_profile_makes_verdicts_incomparable(run: MakeRun):
    def judged(profile: str) -> Run:
        made = run({"a": 1.0})
        judgement = ProfileVerdict(profile=profile, composite=1.0, passed=True, reason="")
        case = msgspec.structs.replace(made.cases[0], judgement=judgement)
        return msgspec.structs.replace(made, cases=(case,))

    found = align(judged("prep_default"), judged("assessment_strict"))
    assert not found.verdicts
    assert found.changed_inputs[0].name == "1 case"
    assert align(judged("prep_default"), judged("prep_default")).verdicts


def test_another_mapper_is_named_and_compared(run: MakeRun):
    found = align(run({"a": 1.0, "b": 1.0}), run({"a": 1.0, "b": 1.0}, mapper="genai@2"))
    (change,) = found.changed_inputs
    assert found.cases.same == 2
    assert (change.what, change.name, change.before, change.after) == (
        "mapper",
        "2 cases",
        "genai@1",
        "genai@2",
    )
