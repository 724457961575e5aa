from __future__ import annotations

from pathlib import Path

import pytest

from carob.errors import FormatError, InputError
from carob.judges.rubrics.builtin import builtin_metric, list_managed_files
from carob.judges.rubrics.judge import RubricJudge
from carob.judges.rubrics.load import read_rubric, rubric_class
from carob.judges.rubrics.properties import PropertyJudge
from carob.schema import Case, Score, ToolCall, Trace, Turn
from tests.judges.rubrics.scripted_ask import (
    ScriptedAsk,
    answer_in_order,
    extreme_answer,
    judge_pair,
    score,
    verdicts,
)

TACT = """\
title = "How tactful the response is."
question = "Is the response tactful?"
scale = [1, 5]
inputs = ["user", "response"]
optional = ["tool_calls"]
threshold = 3.5
samples = 3
combine = "mean"
model = "openai:gpt-5-mini"

[levels]
1 = "Rude."
5 = "Kind."
"""
TRACE = Trace(
    id="t",
    turns=(
        Turn(user="Hi", response="Hello!", tool_calls=(ToolCall(name="wave"),)),
        Turn(user="Bye", response="Ciao!"),
    ),
)


def write_rubric(folder: Path, text: str, name: str = "tact.toml") -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_user_rubric_is_a_metric(tmp_path: Path):
    kind = rubric_class(write_rubric(tmp_path, TACT))
    assert (kind.name, kind.scale, kind.threshold) == ("tact", (1.0, 5.0), 3.5)
    assert kind.needs == ("user", "response")
    assert kind.__doc__ == "How tactful the response is."
    assert kind().judge_model == "openai:gpt-5-mini"
    ask = ScriptedAsk(lambda question: score(question.sample + 2))
    outcome = judge_pair(kind(), Case(id="c"), TRACE, ask)
    assert isinstance(outcome, Score)
    assert outcome.value == 3.0
    assert outcome.turns == (3.0, 3.0)
    first = ask.questions[0]
    assert "- 1: Rude." in first.instructions
    assert '{"name":"wave"}' in first.prompt
    assert "tool_calls" not in ask.questions[-1].prompt  # not recorded in the second turn


def test_parameters_override_the_file(tmp_path: Path):
    kind = rubric_class(write_rubric(tmp_path, TACT))
    judge = kind(samples=1, model="anthropic:claude-sonnet-4-5")
    assert (judge.sample_count, judge.judge_model) == (1, "anthropic:claude-sonnet-4-5")


def test_name_comes_from_the_file_or_the_user(tmp_path: Path):
    path = write_rubric(tmp_path, f'name = "manners"\n{TACT}')
    assert rubric_class(path).name == "manners"
    assert rubric_class(str(path), "kindness").name == "kindness"


def test_yaml_is_equivalent(tmp_path: Path):
    pytest.importorskip("yaml")
    text = "question: Is it tactful?\nscale: yes/no\ninputs: [response]\nlevels: {'yes': Kind.}\n"
    kind = rubric_class(write_rubric(tmp_path, text, "tact.yaml"))
    assert kind.scale == (0.0, 1.0)
    assert kind.threshold is None
    assert kind.__doc__ == "Is it tactful?"


def test_conversation_is_judged_once(tmp_path: Path):
    text = 'question = "Tactful?"\nscale = [1, 5]\nper = "conversation"\ninputs = ["conversation"]'
    ask = answer_in_order([score(5)])
    outcome = judge_pair(rubric_class(write_rubric(tmp_path, text))(), Case(id="c"), TRACE, ask)
    assert isinstance(outcome, Score)
    assert outcome.turns == ()
    assert "turn 1, user\n    Hi\n" in ask.questions[0].prompt
    assert "turn 2, response\n    Ciao!\n" in ask.questions[0].prompt


def test_properties_may_be_texts(tmp_path: Path):
    text = (
        'question = "Check."\nscale = "properties"\nper = "conversation"\ninputs = ["response"]\n'
        'properties = ["It greets.", "It thanks."]'
    )
    kind = rubric_class(write_rubric(tmp_path, text))
    assert issubclass(kind, PropertyJudge)
    ask = answer_in_order([verdicts(True, False)])
    outcome = judge_pair(kind(), Case(id="c"), TRACE, ask)
    assert isinstance(outcome, Score)
    assert outcome.value == 0.5
    assert outcome.reason == "not met: 2: why 2"
    assert "- property_1: It greets." in ask.questions[0].instructions


def test_missing_file_is_an_error(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        rubric_class(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"),
    [
        ('question = "Is the response tactful?"', "", "tact.toml: missing key 'question'", None),
        ("scale = [1, 5]", "", "missing key 'scale'", None),
        ("scale = [1, 5]", "scale = [5, 1]", "line 3, scale: expected the lowest", "write [1, 5]"),
        ("scale = [1, 5]", "scale = 5", "scale: expected a scale, got 5", "yes/no"),
        ("scale = [1, 5]", 'scale = "yesno"', "scale: expected one of: ", "did you mean 'yes/no'"),
        ("scale = [1, 5]", 'scale = "maybe"', "scale: expected one of: ", "[1, 5]"),
        ("scale = [1, 5]", "scale = [0, 1000]", "is wider than 100", None),
        ('"response"]', '"respons"]', "inputs[1]: unknown input 'respons'", "mean 'response'?"),
        ('inputs = ["user", "response"]', "", "missing key 'inputs'", "such as inputs"),
        ('["tool_calls"]', '["user"]', "optional: 'user' is already in 'inputs'", None),
        ("threshold = 3.5", "threshold = 6", "threshold: 6 is not on the scale", None),
        ("samples = 3", "samples = 99", "samples: expected at most 25, got 99", None),
        ("samples = 3", "samples = 1.5", "samples: expected a positive whole number", None),
        ('"mean"', '"majority"', "combine: expected one of: 'median', 'mean'; got", None),
        ('"openai:gpt-5-mini"', '"gpt-5"', "model: 'gpt-5' has no provider", "openai:"),
        ('5 = "Kind."', '7 = "Kind."', "levels.7: '7' is not a level of the scale", None),
        ("threshold", "treshold", "unknown key 'treshold'", "did you mean 'threshold'?"),
        ("[levels]", 'properties = ["x"]\n[levels]', "properties: properties require", None),
        ("[levels]", "[levels", "not valid TOML", None),
    ],
)  # fmt: skip
def test_mistake_is_located(tmp_path: Path, old: str, new: str, message: str, hint: str | None):
    assert old in TACT
    with pytest.raises(FormatError) as caught:
        rubric_class(write_rubric(tmp_path, TACT.replace(old, new, 1)))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path))
    assert hint is None or hint in (caught.value.hint or "")


def test_properties_are_required_and_have_unique_ids(tmp_path: Path):
    text = 'question = "Check."\nscale = "properties"\ninputs = ["response"]\n'
    with pytest.raises(FormatError, match="missing key 'properties'"):
        rubric_class(write_rubric(tmp_path, text))
    twice = '[[properties]]\nid = "a"\ntext = "b"\n' * 2
    with pytest.raises(FormatError, match="duplicate id 'a'"):
        rubric_class(write_rubric(tmp_path, text + twice))


def test_bundled_rubrics_describe_every_level():
    for path in [*list_managed_files().values()]:
        rubric = read_rubric(path)
        assert rubric.properties or rubric.levels or rubric.kind == "sentences"
    assert {*builtin_metric("Relevance").source.levels} == {"1", "2", "3", "4", "5"}


def test_rubric_change_changes_only_the_rubric_digest(
    tmp_path: Path,
):
    first = rubric_class(write_rubric(tmp_path, TACT))()
    for old, new in (("tactful?", "kind?"), ("Rude", "Harsh"), ('"mean"', '"median"')):
        second = rubric_class(write_rubric(tmp_path, TACT.replace(old, new)))()
        assert second.rubric != first.rubric
        assert second.prompt == first.prompt
    changed = rubric_class(
        write_rubric(tmp_path, TACT.replace("threshold = 3.5", "threshold = 4"))
    )()
    assert (changed.rubric, changed.prompt) == (first.rubric, first.prompt)


def test_prompt_change_changes_the_prompt_digest(
    monkeypatch: pytest.MonkeyPatch,
):
    before = builtin_metric("Relevance")()
    digests = (before.prompt, before.rubric)
    monkeypatch.setattr("carob.judges.rubrics.prompts.ROLE", "You are a judge.")
    assert before.prompt != digests[0]
    assert before.rubric == digests[1]


def test_scale_is_part_of_both_digests(tmp_path: Path):
    first = rubric_class(write_rubric(tmp_path, TACT))()
    changed = rubric_class(write_rubric(tmp_path, TACT.replace("[1, 5]", "[0, 5]")))()
    assert changed.rubric != first.rubric
    assert changed.prompt != first.prompt  # the shape of the answer is another one


def test_all_judges_are_built_from_rubrics():
    ask = ScriptedAsk(extreme_answer)
    assert issubclass(builtin_metric("Relevance"), RubricJudge)
    judge_pair(builtin_metric("Relevance")(), Case(id="c"), TRACE, ask)
    assert ask.questions[0].decides == "score"
