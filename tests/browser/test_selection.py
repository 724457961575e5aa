"""Several cases of a run at once: selected by keyboard, run again, reviewed, captured, copied."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest
from playwright.sync_api import Locator, Page, expect

from carob.analysis.summary import summarise, verdict
from carob.api.datasets import save
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.api.store import save_run
from carob.schema import CaseResult, CaseScore, Dataset, MetricSpec, Run, RunDataset
from tests.browser.conftest import NewVisit, Site, press
from tests.browser.workspace import case, trace_of, turn


def selection(page: Page) -> Locator:
    return page.get_by_role("group", name="Selected rows")


def wait_for_run(page: Page, *, scripts: bool = True) -> None:
    """Wait until a run in the making is done, and its page is shown."""
    for _ in range(40):
        if "/runs/" in page.url and "/jobs/" not in page.url:
            return
        page.wait_for_timeout(250)
        if not scripts:
            page.reload()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_selected_cases_of_a_run_are_run_again(scripts: bool, shop: Site, visit: NewVisit):
    visitor = visit(shop, java_script_enabled=scripts)
    page = visitor.go(f"/runs/{shop.seeded.bad}?status=failed")
    if scripts:
        press(page, "j", "x", "j", "j", "x")
        expect(selection(page)).to_contain_text("With 2 selected:")
        press(page, "v")
    else:
        for name in ("late_frost", "hebrew"):
            page.get_by_label(f"select {name}").check()
        page.get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda url: shop.seeded.bad not in url)
    wait_for_run(page, scripts=scripts)
    expect(page.locator("h1")).to_contain_text("2 of 2 cases failed")
    rows = page.locator("table.cases tbody tr")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("region", name="Metrics")).to_contain_text("tool_trajectory_avg_score")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_selected_cases_are_reviewed_one_after_the_other(
    scripts: bool, shop: Site, visit: NewVisit
):
    page = visit(shop, java_script_enabled=scripts).go(f"/runs/{shop.seeded.judged}")
    for name in ("tone_3", "tone_6", "tone_9"):
        page.get_by_label(f"select {name}", exact=True).check()
    selection(page).get_by_role("button", name="Review").click()
    expect(page.locator("h1")).to_have_text("tone: item 1 of 3 selected")
    seen = {page.locator("nav[aria-label=Items] bdi").inner_text()}
    for number in (2, 3):
        page.get_by_role("link", name="next ›").click()
        expect(page.locator("h1")).to_have_text(f"tone: item {number} of 3 selected")
        seen.add(page.locator("nav[aria-label=Items] bdi").inner_text())
    assert seen == {"tone_3", "tone_6", "tone_9"}
    page.get_by_label("your name").fill("Select")
    page.get_by_role("button", name="unsure").click()
    expect(page.locator("h1")).to_have_text("tone: item 3 of 3 selected")


def test_review_uses_a_metric_that_scored_and_names_what_it_did_not(site: Site, visit: NewVisit):
    run = add_partly_scored_run(site)
    page = visit(site).go(f"/runs/{run}")
    for name in ("fern", "moss"):
        page.get_by_label(f"select {name}").check()
    selection(page).get_by_role("button", name="Review").click()
    expect(page.locator("h1")).to_have_text("politeness: item 1 of 1 selected")
    expect(page.locator("main")).to_contain_text("1 selected case has no score of politeness")
    page.goto(f"{site.address}/runs/{run}")
    page.get_by_role("button", name="Clear").click()
    page.get_by_label("select moss").check()
    selection(page).get_by_role("button", name="Review").click()
    expect(page.locator("main")).to_contain_text("No metric with a threshold scored these cases")


def add_partly_scored_run(site: Site) -> str:
    """A run in which one metric scored nothing, and the other two cases of three."""

    def score(metric: str, value: float | None) -> CaseScore:
        return CaseScore(metric, "unscored" if value is None else "failed", value, 0.5)

    results = (
        CaseResult("fern", "t1", "failed", (score("accuracy", None), score("politeness", 0.1))),
        CaseResult("ivy", "t3", "failed", (score("accuracy", None), score("politeness", 0.2))),
        CaseResult("moss", "t2", "unscored", (score("accuracy", None), score("politeness", None))),
    )
    specs = [
        MetricSpec(name=m, version=1, params={}, threshold=0.5, scale=(0.0, 1.0), better="higher")
        for m in ("accuracy", "politeness")
    ]
    summary = summarise(results, {})
    run = Run(
        id="run-00000000000000aa",
        created_at="2026-03-01T08:00:00Z",
        verdict=verdict(summary),
        dataset=RunDataset(name="manners", version=None, digest="sha256:00", format="csv"),
        metrics=tuple(specs),
        cases=results,
        summary=summary,
    )
    save_run(run, store=site.store)
    return run.id


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_failures_become_regression_cases_together(scripts: bool, shop: Site, visit: NewVisit):
    name = f"together_{'scripts' if scripts else 'plain'}"
    run = add_failing_run(shop, name)
    visitor = visit(shop, java_script_enabled=scripts)
    page = visitor.go(f"/runs/{run}?status=failed")
    if scripts:  # none is selected: all that the filter shows
        press(page, "r")
    else:
        page.get_by_role("button", name="Capture as regression cases…").click()
    table = page.get_by_role("region", name="Regression cases")
    expect(table.locator("tbody tr")).to_have_count(3)
    expect(table.get_by_role("row", name="short")).to_contain_text("nothing: short has the same")
    expect(table.get_by_role("row", name="ferns")).to_contain_text("turn 2")
    if scripts:
        press(page, "Enter")
    else:
        page.get_by_role("button", name=f"Add 2 cases to the draft of {name}").click()
    expect(page.locator(".golden-edge")).to_contain_text("2 cases were added to the draft")
    expect(page.get_by_role("link", name=re.compile("-regression-"))).to_have_count(2)
    page.goto(f"{shop.address}/runs/{run}/regressions?places=0,1,2")
    expect(page.locator(".golden-edge")).to_contain_text("Nothing to add")


def add_failing_run(site: Site, name: str) -> str:
    """A dataset of its own, and a run in which all of its cases fail."""
    cases = [
        case(name, *(turn(f"{name} {n}?", f"Answer {n}.") for n in range(3)))
        for name in ("ferns", "moss")
    ] + [case("short", turn("Do you sell moss?", "Yes, in trays."))]
    file = site.folder / "golden" / f"{name}.json"
    save(Dataset(name=name, cases=cases), file, format="questions")
    wrong = [
        trace_of(c, [*c.turns[:1], *(turn(t.user or "", "What?") for t in c.turns[1:])])
        for c in cases[:2]
    ] + [trace_of(cases[2], [turn(cases[2].turns[0].user or "", "What?")])]
    request = RunRequest(
        recorded=wrong,
        golden=file,
        metrics=("response_match_score",),
        config=NO_CONFIG,
        store=site.store,
        keep_traces=True,
    )
    return evaluate(request).run.id


def test_selection_outlives_filters_windows_and_other_pages(site: Site, visit: NewVisit):
    visitor = visit(site, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.go(f"/runs/{site.seeded.large}")
    press(page, "j", "x")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    last = page.locator("tr[aria-rowindex='2501'] input")
    last.check()
    last.blur()  # rows with the focus stay
    page.evaluate("scrollTo(0, 0)")
    expect(page.locator("tr[aria-rowindex='2501']")).to_have_count(0)  # dropped from the window
    expect(selection(page)).to_contain_text("With 2 selected:")
    page.get_by_label("status").select_option("passed")
    expect(page.get_by_role("status").first).to_contain_text("2,142 of 2,500")
    expect(selection(page)).to_contain_text("With 2 selected:")
    visitor.go("/runs")
    page = visitor.go(f"/runs/{site.seeded.large}")
    expect(selection(page)).to_contain_text("With 2 selected:")
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)  # no golden data here
    selection(page).get_by_role("button", name="Review").click()
    expect(page.locator("h1")).to_have_text(re.compile("item 1 of 2 selected"))
    page.go_back()
    page.get_by_role("button", name="Clear").click()
    expect(selection(page)).to_contain_text("With all 2,500 shown:")
    expect(page.locator("tbody input:checked")).to_have_count(0)


def test_command_of_the_selection_is_copied_and_runs_it_again(site: Site, visit: NewVisit):
    visitor = visit(site, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.go(f"/runs/{site.seeded.bad}")
    first = page.get_by_label("select late_frost")
    first.check()
    page.get_by_label("select hebrew").click(modifiers=["Shift"])  # all rows between
    expect(selection(page)).to_contain_text("With 3 selected:")
    press(page, "Shift+Y")
    expect(page.locator(".toast")).to_contain_text("command copied")
    command = page.evaluate("navigator.clipboard.readText()")
    program, *arguments = shlex.split(command)
    assert (program, arguments[:3]) == ("carob", ["run", "--traces-of", site.seeded.bad])
    assert arguments[-6:] == ["--case", "late_frost", "--case", "return_pot", "--case", "hebrew"]
    store = ["--store", site.store, "--no-store", "--format", "json"]
    result = subprocess.run(
        [sys.executable, "-m", "carob", *arguments, *store],
        cwd=site.folder,
        capture_output=True,
        check=False,
    )
    assert result.returncode == 1, result.stderr
    run = json.loads(result.stdout)
    assert [entry["case"] for entry in run["cases"]] == ["late_frost", "return_pot", "hebrew"]
    assert run["summary"]["cases"]["failed"] == 3
