from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from carob.analysis.align import AlignedRuns
from carob.analysis.align import align as align_tables
from carob.analysis.score_table import PASSED, CaseNumbers, ScoreTable
from carob.schema import CaseScore, JudgeSpec, MetricSpec, ProfileVerdict, Run, RunDataset
from carob.schema.target import MockSpec, RunTarget, SimulatorSpec

MakeRun = Callable[..., Run]


def align(before: Run, after: Run) -> AlignedRuns:
    numbers = CaseNumbers()
    return align_tables(ScoreTable(before, numbers), ScoreTable(after, numbers))


def test_cases_are_paired_by_input_and_expectation(run: MakeRun):
    before = run({"same": 1.0, "edited": 1.0, "gone": 1.0}, dataset="sha256:1")
    after = run({"same": 1.0, "edited": 1.0, "new": 1.0}, digests={"edited": "other"}, dataset="2")
    alignment = align(before, after)
    assert [*map(alignment.name, range(len(alignment.pairs)))] == ["same"]
    assert (alignment.cases.added, alignment.cases.removed, alignment.cases.changed) == (
        ("new",),
        ("gone",),
        ("edited",),
    )


def test_without_digests_only_the_same_dataset_can_be_compared(run: MakeRun):
    def bare(original: Run) -> Run:
        cases = [msgspec.structs.replace(case, digest=None) for case in original.cases]
        return msgspec.structs.replace(original, cases=tuple(cases))

    first, same, changed = (bare(run({"a": 1.0}, dataset=digest)) for digest in ("1", "1", "2"))
    assert align(first, same).cases.same == 1
    assert align(first, changed).cases.changed == ("a",)


def test_different_dataset_version_is_listed(run: MakeRun):
    (change,) = align(run({"a": 1.0}, dataset="1"), run({"a": 1.0}, dataset="2")).changed_inputs
    assert (change.what, change.field, change.before, change.after) == (
        "dataset",
        "digest",
        "1",
        "2",
    )


def test_different_metric_version_is_not_compared(run: MakeRun):
    alignment = align(run({"a": 1.0}), run({"a": 1.0}, version=2))
    (change,) = alignment.changed_inputs
    assert alignment.specs == {}
    assert (change.name, change.field, change.before, change.after) == ("recall", "version", 1, 2)
    assert change.effect == "not compared"


def test_changed_parameter_is_listed(run: MakeRun):
    before, after = run({"a": 1.0}), run({"a": 1.0})
    use = msgspec.structs.replace(after.metrics[0], params={"order": "any"})
    alignment = align(before, msgspec.structs.replace(after, metrics=(use,)))
    (change,) = alignment.changed_inputs
    assert (change.field, change.before, change.after) == ("params.order", None, "any")


@pytest.mark.parametrize("field", ["model", "prompt", "rubric"])
def test_scores_of_a_different_judge_are_not_compared(run: MakeRun, field: str):
    def by(judge: JudgeSpec) -> Run:
        original = run({"a": 1.0})
        use = msgspec.structs.replace(original.metrics[0], judge=judge)
        return msgspec.structs.replace(original, metrics=(use,))

    judge = JudgeSpec(model="openai:small", params={"temperature": 0}, prompt="p", rubric="r")
    alignment = align(by(judge), by(msgspec.structs.replace(judge, **{field: "another"})))
    assert alignment.specs == {}
    assert [change.field for change in alignment.changed_inputs] == [f"judge.{field}"]
    assert align(by(judge), by(judge)).changed_inputs == ()


def test_metric_of_only_one_run_is_listed(run: MakeRun):
    before, after = run({"a": 1.0}), run({"a": 1.0})
    use = MetricSpec("bleu", 1, {}, None, (0.0, 1.0), "higher")
    alignment = align(before, msgspec.structs.replace(after, metrics=(*after.metrics, use)))
    (change,) = alignment.changed_inputs
    assert (change.name, change.field, change.before, change.after) == ("bleu", "uses", 0, 1)
    assert [*alignment.specs] == ["recall"]


def test_metric_used_twice_in_a_run_is_ambiguous(run: MakeRun):
    single = run({"a": 1.0})
    twice = msgspec.structs.replace(single, metrics=single.metrics * 2)
    assert align(twice, twice).specs == {}


def test_different_threshold_keeps_scores_comparable_but_not_verdicts(run: MakeRun):
    alignment = align(run({"a": 0.6}, threshold=0.5), run({"a": 0.6}, threshold=0.7))
    assert [*alignment.specs] == ["recall"]
    assert alignment.same_threshold == frozenset()
    assert not alignment.verdicts
    assert alignment.changed_inputs[0].effect == "scores are compared, pass rates are not"


def test_verdicts_are_recomputed_from_the_shared_metrics(run: MakeRun):
    before = run({"a": 1.0})
    use = MetricSpec("bleu", 1, {}, 0.5, (0.0, 1.0), "higher")
    failed = CaseScore(metric="bleu", status="failed", value=0.1, threshold=0.5)
    result = msgspec.structs.replace(
        before.cases[0], status="failed", scores=(*before.cases[0].scores, failed)
    )
    after = msgspec.structs.replace(before, metrics=(*before.metrics, use), cases=(result,))
    alignment = align(before, after)
    assert alignment.verdicts
    assert alignment.after.statuses[0] == PASSED


def test_different_profile_makes_verdicts_incomparable(run: MakeRun):
    def judged(profile: str) -> Run:
        original = run({"a": 1.0})
        judgement = ProfileVerdict(profile=profile, composite=1.0, passed=True, reason="")
        case = msgspec.structs.replace(original.cases[0], judgement=judgement)
        return msgspec.structs.replace(original, cases=(case,))

    alignment = align(judged("prep_default"), judged("assessment_strict"))
    assert not alignment.verdicts
    assert alignment.changed_inputs[0].name == "1 case"
    assert align(judged("prep_default"), judged("prep_default")).verdicts


def test_different_mapper_is_listed_and_still_compared(run: MakeRun):
    alignment = align(run({"a": 1.0, "b": 1.0}), run({"a": 1.0, "b": 1.0}, mapper="genai@2"))
    (change,) = alignment.changed_inputs
    assert alignment.cases.same == 2
    assert (change.what, change.name, change.before, change.after) == (
        "mapper",
        "2 cases",
        "genai@1",
        "genai@2",
    )


def test_profile_of_only_one_run_makes_verdicts_incomparable(run: MakeRun):
    plain = run({"a": 1.0})
    judgement = ProfileVerdict(profile="strict", composite=1.0, passed=True, reason="")
    case = msgspec.structs.replace(plain.cases[0], judgement=judgement, status="failed")
    judged = msgspec.structs.replace(plain, cases=(case,))
    for before, after in ((plain, judged), (judged, plain)):
        assert not align(before, after).verdicts
    assert align(plain, judged).after.statuses[0] != PASSED  # what the profile said


def test_live_runs_under_other_conditions_are_listed(run: MakeRun):
    def live(simulator: SimulatorSpec | None = None, mocks: MockSpec | None = None) -> Run:
        target = RunTarget("http", {}, 1, 0, simulator=simulator, mocks=mocks)
        return msgspec.structs.replace(run({"a": 1.0}), target=target)

    simulator = SimulatorSpec("openai:user", {}, "sha256:0123456789abcdef", 6)
    mocks = MockSpec("golden", "sha256:fedcba9876543210", "error")
    (change,) = align(live(), live(simulator)).changed_inputs
    assert (change.what, change.name, change.field, change.before, change.after) == (
        "target",
        "simulator",
        "simulator",
        None,
        "openai:user sha256:0123456789ab, 6 turns",
    )
    (change,) = align(live(simulator, mocks), live(simulator)).changed_inputs
    assert (change.field, change.before, change.after) == (
        "mocks",
        "golden sha256:fedcba987654, on miss error",
        None,
    )
    assert change.effect
    assert align(live(simulator, mocks), live(simulator, mocks)).changed_inputs == ()


def test_every_changed_field_of_the_dataset_is_listed(run: MakeRun):
    def on(version: str, digest: str) -> Run:
        dataset = RunDataset("support", version, digest, "adk")
        return msgspec.structs.replace(run({"a": 1.0}), dataset=dataset)

    changes = align(on("1.0.0", "x"), on("1.1.0", "y")).changed_inputs
    assert [(change.name, change.field, change.before, change.after) for change in changes] == [
        ("support", "version", "1.0.0", "1.1.0"),
        ("support", "digest", "x", "y"),
    ]
    (change, *_) = align(run({"a": 1.0}), on("1.0.0", "x")).changed_inputs
    assert (change.name, change.field, change.before, change.after) == (
        "support",
        "name",
        None,
        "support",
    )
