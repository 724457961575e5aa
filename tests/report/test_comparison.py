from __future__ import annotations

from carob.report.comparison import format_comparison, format_comparison_markdown
from carob.schema import (
    Alignment,
    AttemptCounts,
    ComparedRun,
    Comparison,
    FlakyCase,
    Flip,
    FlippedScore,
    InputChange,
    Reliability,
)

RUN = ComparedRun(id="run-1", created_at="2026-03-02T10:00:00Z", dataset=None)


def comparison(**parts: object) -> Comparison:
    fields = {
        "changed_inputs": (),
        "metrics": (),
        "flips": (),
        "flaky": (),
        "reliability": (),
    } | parts
    return Comparison(  # pyright: ignore[reportCallIssue] - the parts of the test
        before=RUN,
        after=RUN,
        alpha=0.05,
        adjustment="holm",
        verdict="inconclusive",
        sentence="nothing decides",
        overall=None,
        **({"cases": Alignment(same=1)} | fields),  # pyright: ignore[reportArgumentType] - likewise
    )


def flip(number: int, reason: str = "7% of the words match") -> Flip:
    score = FlippedScore(metric="recall", before=1.0, after=0.0, reason=reason)
    return Flip(
        case=f"case-{number}",
        kind="broke",
        before="passed",
        after="failed",
        scores=(score,),
        turns=(),
    )


def test_cases_that_cannot_be_compared_are_listed():
    cases = Alignment(same=1, added=("new",), removed=(), changed=tuple("abcdefghijkl"))
    text = format_comparison(comparison(cases=cases))
    assert "1 case only after: new\n" in text
    assert "12 cases changed, not compared: a, b, c, d, e, f, g, h, i, j and 2 more\n" in text


def test_changed_mappers_are_listed():
    change = InputChange("mapper", "2 cases", "mapper", "genai@1", "genai@2", "compared")
    assert "mapper of 2 cases: genai@1 → genai@2; compared\n" in format_comparison(
        comparison(changed_inputs=(change,))
    )


def test_reliability_and_flaky_cases_are_shown():
    shaky = FlakyCase("parcel", AttemptCounts(3, 3), AttemptCounts(1, 3))
    repeats = Reliability(k=3, cases=4, any_passes=(1.0, 0.75), all_pass=(0.5, 0.25))
    text = format_comparison(comparison(flaky=(shaky,), reliability=(repeats,)))
    assert "flaky parcel: passed 3 of 3 before, 1 of 3 after" in text
    assert ["3", "4", "1", "0.75", "0.5", "0.25"] in [line.split() for line in text.splitlines()]


def test_only_the_first_flips_are_shown():
    flips = tuple(map(flip, range(14)))
    for text in (
        format_comparison(comparison(flips=flips)),
        format_comparison_markdown(comparison(flips=flips)),
    ):
        assert "case-9" in text
        assert "case-10" not in text
        assert "and 4 more that flipped" in text


def test_text_of_agents_controls_neither_terminal_nor_page():
    hostile = comparison(flips=(flip(1, "\x1b[2J<script>|[a](b)"),))
    assert "\\x1b[2J<script>" in format_comparison(hostile)
    assert "\\<script\\>\\|\\[a\\](b)" in format_comparison_markdown(hostile)
