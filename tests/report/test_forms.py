from __future__ import annotations

from collections.abc import Callable

import pytest

from carob.report import render
from carob.report.forms import RUN_FORMS, run_forms
from carob.schema import CaseResult, Run

MakeRun = Callable[..., Run]


@pytest.mark.parametrize("form", ["text", "json", *RUN_FORMS])
def test_every_form_is_made_of_a_run(form: str, make_run: MakeRun):
    run = make_run(CaseResult(case="c", trace="t", status="passed"))
    places = {"c": ("gold.json", 1)}
    assert render(run, form, run_forms(run, places=lambda: places)).endswith("\n")


def test_what_a_form_does_not_need_is_not_asked_for(make_run: MakeRun):
    run = make_run(CaseResult(case="c", trace="t", status="passed"))

    def never() -> dict[str, tuple[str, int]]:
        raise AssertionError

    assert render(run, "junit", run_forms(run, places=never))
