from __future__ import annotations

from collections.abc import Callable

from carob.report.comment import format_comment
from carob.report.forms import ReportInputs
from carob.schema import CaseResult, CaseScore, Exchange, Run

MakeRun = Callable[..., Run]


def comment(run: Run) -> str:
    return format_comment(ReportInputs(run))


def failed(case: str = "late", reason: str = "missing lookup()", answer: str = "No.") -> CaseResult:
    score = CaseScore(metric="m", status="failed", value=0.25, threshold=0.8, reason=reason)
    turn = Exchange(user="Where?", expected="There.", actual=answer)
    return CaseResult(case=case, trace="t1", status="failed", scores=(score,), exchanges=(turn,))


def test_failed_case_shows_the_reason_and_both_answers(make_run: MakeRun):
    text = comment(make_run(failed()))
    assert text.startswith("### failed: support@\u200b1.2.0: 1 failed of 1")
    assert "<details open><summary>failed late</summary>" in text
    assert "- m 0.25, threshold 0.8: missing lookup()" in text
    assert "| 1 | Where? | There. | No. |" in text


def test_only_the_first_cases_are_unfolded(make_run: MakeRun):
    text = comment(make_run(*(failed(f"c{number}") for number in range(9))))
    assert (text.count("<details open>"), text.count("<details>")) == (3, 6)


def test_passed_cases_are_not_listed(make_run: MakeRun):
    assert "good" not in comment(make_run(CaseResult(case="good", trace="t", status="passed")))


def test_long_report_is_cut_to_the_size_of_a_comment(make_run: MakeRun):
    text = comment(make_run(*(failed(f"c{number}", "r" * 900, "x" * 900) for number in range(500))))
    assert len(text) < 65_000
    details = text.count("<details")
    assert text.endswith(f"\nAnd {500 - details} more cases that did not pass.\n")


def test_text_of_agents_is_escaped(make_run: MakeRun):
    text = comment(make_run(failed("<b>@team</details>", "<img src=x>", "a|b [c](http://x.y) `d`")))
    assert "<summary>failed &lt;b&gt;@\u200bteam&lt;/details&gt;</summary>" in text
    assert "threshold 0.8: \\<img src=x\\>" in text
    assert "| a\\|b \\[c\\](http\\://x.y) \\`d\\` |" in text
    assert text.count("</details>") == 1


def test_text_of_agents_notifies_nobody_and_links_nothing(make_run: MakeRun):
    text = comment(make_run(failed(reason="@org/team see www.evil.example and #7")))
    assert "threshold 0.8: @\u200borg/team see www\\.evil.example and \\#7" in text
