from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

from carob.report.forms import ReportInputs
from carob.report.junit import format_junit
from carob.schema import CaseResult, CaseScore, Exchange, Run

MakeRun = Callable[..., Run]

_ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped", "timestamp"},
    "properties": set[str](),
    "property": {"name", "value"},
    "testcase": {"name", "classname", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
}
_INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase"},
    "properties": {"property"},
    "testcase": {"failure", "error", "skipped"},
}


def read(run: Run) -> ElementTree.Element:
    return ElementTree.fromstring("".join(format_junit(ReportInputs(run))))  # noqa: S314 - we read what we wrote


def failed(case: str = "late", reason: str = "missing lookup()") -> CaseResult:
    score = CaseScore(metric="m", status="failed", value=0.25, threshold=0.8, reason=reason)
    turn = Exchange(user="Where?", expected="There.", actual="Nowhere.")
    return CaseResult(case=case, trace="t1", status="failed", scores=(score,), exchanges=(turn,))


def unscored() -> CaseResult:
    score = CaseScore(metric="m", status="unscored", reason="no tools expected")
    return CaseResult(case="odd", trace="t2", status="unscored", scores=(score,))


def broken() -> CaseResult:
    score = CaseScore(metric="m", status="error", reason="ValueError: boom")
    return CaseResult(case="bad", trace="t3", status="error", scores=(score,))


def passed(trace: str = "t4") -> CaseResult:
    return CaseResult(case="good", trace=trace, status="passed")


def test_document_matches_the_junit_schema(make_run: MakeRun):
    for element in read(make_run(failed(), unscored(), broken(), passed())).iter():
        assert set(element.attrib) == _ATTRIBUTES[element.tag]
        assert {child.tag for child in element} <= _INSIDE.get(element.tag, set())


def test_counts_add_up(make_run: MakeRun):
    suite = read(make_run(failed(), unscored(), broken(), passed(), passed("t5")))[0]
    outcomes = [child.tag for test in suite.iter("testcase") for child in test]
    assert suite.get("tests") == str(len(list(suite.iter("testcase")))) == "5"
    assert suite.get("failures") == str(outcomes.count("failure")) == "1"
    assert suite.get("errors") == str(outcomes.count("error")) == "1"
    assert suite.get("skipped") == str(outcomes.count("skipped")) == "1"


def test_failure_shows_the_reason_and_both_answers(make_run: MakeRun):
    failure = next(read(make_run(failed())).iter("failure"))
    assert failure.get("message") == "m 0.25, threshold 0.8: missing lookup()"
    assert failure.text == (
        "m 0.25, threshold 0.8: missing lookup()\n"
        "turn 1: Where?\n  expected  There.\n  actual    Nowhere."
    )


def test_unscored_cases_are_skipped_with_the_reason(make_run: MakeRun):
    skipped = next(read(make_run(unscored())).iter("skipped"))
    assert skipped.get("message") == "m not scored: no tools expected"


def test_error_is_not_a_failure(make_run: MakeRun):
    error = next(read(make_run(broken())).iter("error"))
    assert error.get("message") == "m error: ValueError: boom"


def test_case_without_a_trace_says_so(make_run: MakeRun):
    lost = CaseResult(case="c", trace=None, status="unscored", paired_by="no trace belongs to it")
    assert next(read(make_run(lost)).iter("skipped")).get("message") == "no trace belongs to it"


def test_attempts_at_a_case_have_unique_names(make_run: MakeRun):
    names = [test.get("name") for test in read(make_run(passed(), passed("t5"))).iter("testcase")]
    assert names == ["good [t4]", "good [t5]"]


def test_agents_cannot_break_the_document(make_run: MakeRun):
    nasty = "]]></failure><script/>&bogus; \x00\x0b\ufffe\ud800 \"'<!--"
    test = next(read(make_run(failed(case=nasty, reason=nasty), name=nasty)).iter("testcase"))
    assert [child.tag for child in test] == ["failure"]
    assert "</failure><script/>&bogus; \\x00\\x0b" in (test.get("name") or "")
