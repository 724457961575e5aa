from __future__ import annotations

from collections.abc import Callable

import pytest

from carob.errors import UsageError
from carob.report import forms
from carob.report.forms import (
    RUN_FORMS,
    ReportInputs,
    add_form_finder,
    form_names,
    format_report,
)
from carob.schema import CaseResult, Run

MakeRun = Callable[..., Run]


@pytest.fixture
def run(make_run: MakeRun) -> Run:
    return make_run(CaseResult(case="c", trace="t", status="passed"))


@pytest.fixture
def _registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_finders", {})


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
