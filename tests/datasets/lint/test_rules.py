"""Each rule reports its violations and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from carob import plugins
from carob.datasets.lint.rules import (
    LintItem,
    LintOptions,
    RuleFamily,
    RuleTable,
    Violation,
)
from carob.datasets.lint.run import BUILT_IN, lint
from carob.errors import UsageError
from carob.schema import DatasetPurpose, Finding, Json, LintRule

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "guides" / "linting.md").read_text("utf-8")
BUNDLED = sorted((ROOT / "src" / "carob" / "demo" / "data").glob("support*"))
Linted = Callable[..., list[Finding]]


def example(user: str = "Do you repair e-bikes?", answer: str = "Yes, all.", **more: Json):
    return {"input": user, "expectedOutput": answer, **more}


def cases(number: int) -> list[dict[str, Json]]:
    return [example(f"Question {index}?", tags=["happy-path"]) for index in range(number)]


@pytest.mark.parametrize("rule", BUILT_IN.rules, ids=lambda rule: rule.id)
def test_every_rule_is_documented(rule: LintRule):
    assert re.search(rf"\| {rule.id} \| `{rule.name}` \| {rule.level} \|", PAGE)


@pytest.mark.parametrize("path", BUNDLED, ids=lambda path: path.name)
def test_bundled_data_has_no_errors(path: Path):
    findings = lint(path, plugins.formats()).findings
    assert [finding for finding in findings if finding.level == "error"] == []


def test_same_case_again_is_a_duplicate(linted: Linted):
    (finding,) = linted(example(tags=["a"]), example("do you repair E-BIKES"), rule="C201")
    assert finding.message.startswith("duplicate of case 'case-")


def test_another_context_makes_another_case(linted: Linted):
    assert linted(example(context="In Bonn"), example(context="In Kiel"), rule="C201") == []


def test_another_answer_to_the_same_input_is_a_contradiction(linted: Linted):
    (finding,) = linted(example(), example(answer="No, none."), rule="C203")
    assert finding.level == "error"
    assert "but expects a different answer" in finding.message


def test_case_and_punctuation_do_not_make_a_contradiction(linted: Linted):
    assert linted(example(), example(answer="yes all"), rule="C203") == []


def test_nearly_the_same_question_is_a_near_duplicate(linted: Linted):
    first = example("Can you please tell me when my new bike will be delivered?")
    second = example("Can you please tell me when my new bikes will be delivered?")
    (finding,) = linted(first, second, rule="C202")
    assert "similar)" in finding.message


def test_another_number_makes_another_question(linted: Linted):
    first = example("Can you please tell me when order MB-20418 will be delivered?")
    second = example("Can you please tell me when order MB-20419 will be delivered?")
    assert linted(first, second, rule="C202") == []


def test_tag_in_another_spelling_is_inconsistent(linted: Linted):
    tagged = [
        example(f"{tag}?", tags=[tag]) for tag in ("Billing", "billing", "billing", "bilings")
    ]
    findings = linted(*tagged, rule="C401")
    assert [re.findall(r"'([^']*)'", finding.message) for finding in findings] == [
        ["Billing", "billing"],
        ["bilings", "billing"],
    ]
    assert "consistent tags are billing" in (findings[0].hint or "")


def test_tags_that_differ_in_a_number_or_in_a_word_are_two_tags(linted: Linted):
    tags: Json = ["level-1", "level-2", "return", "return-label", "stock", "orders"]
    assert linted(example(tags=tags), rule="C401") == []


def test_tag_outside_the_vocabulary_is_reported_once(linted: Linted):
    vocabulary = LintOptions(tags=("happy-path", "edge-case", "billing"))
    examples = [
        example(f"{tag}?", tags=[tag]) for tag in ("billing", "Billing", "urgent", "urgent")
    ]
    findings = linted(*examples, settings=vocabulary)
    tags = [(each.rule, each.message, each.hint) for each in findings if each.rule[:2] == "C4"]
    assert tags == [
        ("C402", "unknown tag 'Billing'", "did you mean 'billing'?"),
        ("C402", "unknown tag 'urgent'", "expected one of: happy-path, edge-case, billing"),
    ]
    assert linted(*examples, rule="C402") == []


def test_missing_kinds_of_cases_are_listed(linted: Linted):
    (finding,) = linted(example(tags=["Happy Path"]), example("b", tags=["edge_case"]), rule="C501")
    assert finding.message == "none of the 2 cases is tagged 'error-handling' or 'ambiguous'"


def test_metadata_may_state_the_kind_of_a_case(linted: Linted):
    kinds = ["happy-path", "edge-case", "error-handling", "ambiguous"]
    data = [example(kind, metadata={"category": kind}) for kind in kinds]
    assert linted(*data, rule="C501") == []
    assert linted(*data, rule="C502") == []


def test_mostly_happy_paths_are_unbalanced(linted: Linted):
    others = [example(tag, tags=[tag]) for tag in ("edge-case", "error-handling", "ambiguous")]
    (finding,) = linted(*cases(20), *others, rule="C501")
    assert finding.message == "20 of 23 tagged cases are 'happy-path'"


def test_cases_without_a_kind_are_noted(linted: Linted):
    options = LintOptions(use="development")
    findings = linted(example(), rule="C502", settings=options)
    assert [finding.level for finding in findings] == ["note"]


@pytest.mark.parametrize(
    ("use", "number", "wrong"),
    [
        ("development", 9, True),
        ("development", 20, False),
        ("development", 21, True),
        ("pre-release", 50, False),
        ("regression", 99, True),
        ("regression", 300, False),
    ],
)
def test_size_must_fit_the_use(linted: Linted, use: DatasetPurpose, number: int, wrong: bool):
    findings = linted(*cases(number), rule="C503", settings=LintOptions(use=use))
    assert bool(findings) == wrong


def test_without_a_use_neither_size_nor_tags_are_noted(linted: Linted):
    assert linted(example(), rule="C502") == linted(example(), rule="C503") == []


def test_case_that_expects_nothing_is_reported(linted: Linted):
    (finding,) = linted(example(answer=" "), example("b"), rule="C601")
    assert finding.message == "an empty answer is expected"


@pytest.mark.parametrize(
    "answer",
    [
        "TODO",
        "<expected answer here>",
        "How does it work, then?",
        " ".join(f"Step {number}: {word} it." for number, word in enumerate("abcdefgh", 1)),
    ],
)
def test_unrealistic_answer_is_reported(linted: Linted, answer: str):
    assert len(linted(example("How does it work, then?", answer), rule="C602")) == 1


@pytest.mark.parametrize("answer", ["Yes.", "1. Open the app. 2. Tap on Orders.", "No"])
def test_short_answer_is_realistic(linted: Linted, answer: str):
    assert linted(example(answer=answer), rule="C602") == []


def test_answer_that_the_context_does_not_support_is_reported(linted: Linted):
    context = "Established long ago, we serve customers across many countries of the world."
    (finding,) = linted(example("When?", "It was founded in 2019.", context=context), rule="C603")
    assert "does not contain 2019" in finding.message


@pytest.mark.parametrize(
    "context", ["Established in 2019, we serve 5000 customers across the world.", "Company page"]
)
def test_supported_answer_or_a_mere_label_is_fine(linted: Linted, context: str):
    assert linted(example("When?", "It was founded in 2019.", context=context), rule="C603") == []


def test_misspelling_in_an_answer_is_reported_but_not_one_in_a_question(linted: Linted):
    pytest.importorskip("codespell_lib")
    (finding,) = linted(example("Did you recieve it?", "We will definately send it."), rule="C701")
    assert (finding.message, finding.hint) == ("misspelled word 'definately'", "write 'definitely'")


def test_ignored_rule_is_ignored_in_that_case_only(linted: Linted):
    ignoring = example("a.b@mail.example", metadata={"lint_ignore": ["pii-reserved-email"]})
    findings = linted(ignoring, example("c.d@mail.example"), rule="C107")
    assert [finding.where for finding in findings] == ["line 14 $.examples[1].input"]


def test_case_that_ignores_an_unknown_rule_is_an_error(linted: Linted):
    (finding,) = linted(example(metadata={"lint_ignore": "pii-emial"}), rule="C002")
    assert (finding.level, finding.hint) == ("error", "did you mean 'pii-email'?")


def test_rule_is_known_by_id_and_by_name():
    assert BUILT_IN.get("C101") is BUILT_IN.get("pii-email") is BUILT_IN.get("c101")


def test_unknown_rule_is_an_error_with_a_suggestion():
    with pytest.raises(UsageError, match="unknown lint rule 'near-duplicat'") as caught:
        BUILT_IN.get("near-duplicat")
    assert caught.value.hint == "did you mean 'near-duplicate'?"


class ShoutedQuestions(RuleFamily):
    rules = (LintRule(id="X001", name="shouting", level="warning", summary="All capitals."),)

    def visit(self, item: LintItem) -> list[Violation]:
        shouted = any((turn.user or "").isupper() for turn in item.case.turns)
        return [Violation(self.rules[0], item.location, "all capitals")] if shouted else []


def test_another_package_can_add_a_family_of_rules(tmp_path: Path):
    path = tmp_path / "golden.csv"
    path.write_text("Input,ExpectedOutput\nWHERE IS IT?,Here.\nWhere is it?,Here.\n")
    table = BUILT_IN.extend([ShoutedQuestions])
    findings = lint(path, plugins.formats(), rules=table).findings
    assert [(finding.rule, finding.line) for finding in findings if finding.rule == "X001"] == [
        ("X001", 2)
    ]
    assert table.get("shouting").id == "X001"


def test_two_families_cannot_declare_the_same_rule():
    with pytest.raises(UsageError, match="duplicate lint rule 'X001'"):
        RuleTable([ShoutedQuestions, type("Copy", (ShoutedQuestions,), {"rules": (_copy(),)})])


def _copy() -> LintRule:
    return LintRule(id="X001", name="other", level="note", summary="Something else.")
