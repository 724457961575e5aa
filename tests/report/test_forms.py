from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from carob.errors import UsageError
from carob.files.spool import Spool
from carob.report import format_json, forms
from carob.report.forms import (
    RUN_FORMS,
    ReportInputs,
    add_form_finder,
    form_names,
    format_report,
)
from carob.schema import CaseResult, CaseScore, MetricSummary, Run
from carob.schema.codec import RESULTS

MakeRun = Callable[..., Run]


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    return make_run(CaseResult(case="c", trace="t", status="passed"))


@pytest.fixture
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_finders", {})


@pytest.mark.parametrize("form", RUN_FORMS)
def test_form_does_not_depend_on_where_the_cases_are(form: str, make_run: MakeRun):
    broken = CaseScore(metric="m", status="failed", value=0.25, threshold=0.5, reason="no\n[]")
    run = make_run(
        CaseResult(case="c", trace="t", status="passed"),
        CaseResult(case="c", trace="u", status="failed", scores=(broken,)),
        CaseResult(case="ä", trace=None, status="unscored", paired_by="no trace"),
    )
    spool = Spool(RESULTS, in_memory=0)
    spool.extend(run.cases)
    spooled = msgspec.structs.replace(run, cases=spool.finish())
    assert not isinstance(spooled.cases, tuple)
    assert render(form, spooled) == render(form, run)


def test_json_is_that_of_the_whole_document(run: Run):
    assert render("json", run) == format_json(run)


@pytest.mark.parametrize("form", RUN_FORMS)
def test_every_form_renders_a_run(form: str, run: Run):
    inputs = ReportInputs(run, load_case_lines=lambda: {"c": ("gold.json", 1)})
    assert format_report(form, inputs).endswith("\n")


def test_form_loads_only_what_it_needs(run: Run):
    def fail() -> dict[str, tuple[str, int]]:
        raise AssertionError

    assert format_report("junit", ReportInputs(run, load_case_lines=fail))


def test_unknown_form_is_a_usage_error(run: Run):
    with pytest.raises(UsageError, match="unknown format 'pdf'; expected one of: text, json, csv"):
        format_report("pdf", ReportInputs(run))


@pytest.mark.usefixtures("_registry")
def test_form_of_another_package_is_loaded_when_it_is_used(run: Run):
    def load() -> Callable[[ReportInputs], str]:
        return lambda inputs: f"{inputs.run.id}\n"

    add_form_finder(lambda: {"slack": load})
    assert form_names()[-1] == "slack"
    assert format_report("slack", ReportInputs(run)) == f"{run.id}\n"


def render(form: str, run: Run) -> str:
    return format_report(form, ReportInputs(run, load_case_lines=lambda: {"c": ("gold.json", 1)}))


@pytest.fixture
def informational(make_run: MakeRun) -> Run:
    score = CaseScore(metric="latency", status="info", value=0.2)
    run = make_run(CaseResult(case="c", trace="t", status="info", scores=(score,)))
    return msgspec.structs.replace(run, verdict="informational")


@pytest.mark.parametrize("form", ["text", "md", "html", "junit", "sarif", "qa"])
def test_every_form_says_that_nothing_was_decided(form: str, informational: Run):
    assert "nothing was decided" in render(form, informational)


def test_first_line_says_that_nothing_was_decided(informational: Run):
    for form, mark in (("text", ""), ("md", "### ")):
        first = render(form, informational).splitlines()[0].replace("\u200b", "")
        assert first == (
            f"{mark}informational: support@1.2.0: nothing was decided, 1 case ({informational.id})"
        )


@pytest.mark.parametrize("form", ["text", "md", "html", "junit", "sarif", "qa"])
def test_every_form_names_a_metric_that_scored_no_case(form: str, make_run: MakeRun):
    unscored = CaseScore(metric="Tact", status="unscored", threshold=3, reason="no context")
    passed = CaseScore(metric="recall", status="passed", value=1.0, threshold=0.5)
    run = make_run(CaseResult(case="c", trace="t", status="unscored", scores=(unscored, passed)))
    summary = msgspec.structs.replace(
        run.summary, metrics={**run.summary.metrics, "Tact": MetricSummary(unscored=1)}
    )
    text = render(form, msgspec.structs.replace(run, summary=summary))
    lines = [line for line in text.splitlines() if "scored no case" in line]
    assert any("Tact" in line and "no context" in line for line in lines)
    assert not any("recall scored" in line for line in lines)


def test_headline_counts_both_kinds_of_unscored_cases(make_run: MakeRun):
    missing = CaseScore(metric="m", status="unscored", threshold=0.8)
    silent = CaseScore(metric="m", status="unscored", threshold=0.8, not_applicable=True)
    run = make_run(
        CaseResult(case="a", trace="t", status="passed"),
        CaseResult(case="b", trace="t", status="unscored", scores=(missing, silent)),
        CaseResult(case="c", trace="t", status="unscored", scores=(silent,)),
        CaseResult(case="d", trace=None, status="unscored"),
        CaseResult(case="e", trace="t", status="failed"),
    )
    first = render("text", run).splitlines()[0]
    assert first.startswith(
        "failed: support@1.2.0: 1 failed, 2 not scored, 1 not applicable, 1 passed of 5 ("
    )


def test_junit_skips_cases_that_nothing_decided(informational: Run):
    text = render("junit", informational)
    assert 'skipped="1"' in text
    assert 'message="nothing was decided' in text


def test_html_can_filter_informational_cases(informational: Run):
    assert "info (1)" in render("html", informational)
