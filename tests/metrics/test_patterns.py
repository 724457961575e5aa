from __future__ import annotations

import time

import pytest

from carob.errors import UsageError, install_hint
from carob.metrics import build, patterns
from carob.metrics.patterns import compile_pattern
from carob.metrics.text.matching import Regex
from carob.metrics.tools.accuracy import ToolUsage
from carob.schema import Case, Score, Trace, Turn

pytest.importorskip("re2")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+){12}b", "a" * 50_000),
        ("(a|aa)+$", "a" * 50_000 + "b"),
        ("(a+)+b", "a" * 50_000),
        ("(a|a)*b", "a" * 50_000),
        ("(.*)(.*)(.*)(.*)x", "a" * 50_000),
        (r"\s+$", " " * 50_000 + "x"),
        ("a?" * 30 + "a" * 30 + "b", "a" * 60),
        (r"^(\d{1,3})+$", "1" * 50_000 + "x"),
        ("(?:(?:a|b|ab|ba){0,9}c?){0,9}d", "ab" * 20_000),
    ],
)
def test_no_pattern_takes_long(pattern: str, text: str):
    started = time.process_time()
    assert compile_pattern(pattern).search(text) is None
    assert compile_pattern(pattern).fullmatch(text) is None
    assert time.process_time() - started < 2


def test_regex_metric_answers_at_once_on_a_long_response():
    trace = Trace(id="t", turns=(Turn(response="a" * 50_000),))
    started = time.process_time()
    outcomes = [
        Regex(pattern=text).score(Case(id="c"), trace) for text in ("(a+){12}b", "(a|aa)+$")
    ]
    assert time.process_time() - started < 2
    assert [outcome.value for outcome in outcomes if isinstance(outcome, Score)] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(?=a)b", "RE2 has no lookaround"),
        ("(?!a)b", "RE2 has no lookaround"),
        ("(?<=a)b", "RE2 has no lookaround"),
        ("(?<!a)b", "RE2 has no lookaround"),
        (r"(a)\1", "RE2 has no backreferences"),
    ],
)
def test_pattern_that_re2_cannot_express_is_rejected_by_name(pattern: str, message: str):
    with pytest.raises(ValueError, match=f"unsupported regular expression .*{message}"):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "[", "(?>a)", "((a{100}){100}){100}"])
def test_invalid_pattern_is_rejected(pattern: str):
    with pytest.raises(ValueError, match="invalid regular expression"):
        compile_pattern(pattern)


def test_end_of_text_in_python_syntax_is_rejected_with_the_right_spelling():
    with pytest.raises(ValueError, match=r"use \\z for the end of the text"):
        compile_pattern(r"a\Z")


def test_invalid_pattern_writes_nothing_to_stderr(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(ValueError, match="invalid regular expression"):
        compile_pattern("(unclosed")
    assert capfd.readouterr().err == ""


def test_missing_package_is_reported_with_the_install_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(patterns, "find_spec", dict[str, None]().get)
    compile_pattern.cache_clear()
    for use in (
        lambda: compile_pattern("a"),
        lambda: ToolUsage(comparators={"city": "regex"}),
        lambda: build(
            "tool_usage_accuracy",
            {"comparators": {"city": "regex"}},
            {"tool_usage_accuracy": ToolUsage},
        ),
    ):
        with pytest.raises(UsageError) as caught:
            use()
        assert caught.value.message == (
            "regular expressions need the package 'google-re2', which is not installed"
        )
        assert caught.value.hint == install_hint("metrics")
    assert ToolUsage(comparators={"city": "ignore_case"})


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\w+", "Müller"),
        (r"[\w ]+", "Grüße aus Łódź"),
        (r"\d+", "٤٢"),
        (r"a\sb", "a\u00a0b"),
        (r"[]\w[]+", "[ü]"),
        (r"[[:alpha:]\d]+", "ab12"),
        (r"\\w", r"\w"),
        (r"\D+", "zwölf"),
    ],
)
def test_character_classes_are_those_of_unicode(pattern: str, text: str):
    assert compile_pattern(pattern).fullmatch(text)


def test_negated_class_does_not_match_a_letter_with_an_accent():
    assert compile_pattern(r"\W").fullmatch("ü") is None
