"""`Y` on every page: the command that it copies works, and prints what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewVisit, Site, press
from tests.browser.test_pages import all_pages

_WITHOUT = {
    "case-new",
    "case-editor",
    "case-spans",
    "compare-choose",
    "dataset-version-case",
    "leaderboards",
    "live",
    "not-found",
    "review",
    "session",
    "session-compare",
    "session-discard",
    "session-golden",
    "session-regression",
    "settings",
    "upload",
}
"""Pages that only the browser has."""
_SHOWN: Mapping[str, str] = {
    "home": "garden_shop",
    "runs": "release=1.5",
    "run": "failed late_frost",
    "run-passed": "passed: garden_shop: 8 passed",
    "run-filtered": "4 of 8 cases",
    "run-large": "358 failed",
    "case": "failed delivery_date",
    "case-golden": "When will my three rose bushes arrive?",
    "case-raw": '"case": "delivery_date"',
    "case-japanese": "passed japanese",
    "regression": "1 case",
    "regressions": "1 case",
    "leaderboard": "release=1.4",
    "compare": "inconclusive",
    "datasets": "cases                 8",
    "dataset": "opening_hours  draft",
    "dataset-version": "garden_shop 1.0.0",
    "dataset-diff": "no differences",
    "dataset-findings": "no findings",
    "dataset-case": "When will my three rose bushes arrive?",
    "review-item": "kappa",
    "metrics": "tool_trajectory_avg_score",
    "metric": "rouge_l",
}
"""A part of what both show."""


def command_of(page: Page) -> str | None:
    return page.locator("body").get_attribute("data-command") or None


def run_command(command: str, folder: Path) -> str:
    """Run a command in the folder of the server, and return what it prints."""
    program, *arguments = shlex.split(command)
    assert program == "carob"
    result = subprocess.run(
        [sys.executable, "-m", "carob", *arguments],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
    )
    assert result.returncode in (0, 1), (command, result.stderr)
    return result.stdout


def test_command_of_every_page_works_and_prints_what_the_page_shows(site: Site, visit: NewVisit):
    visitor = visit(site, java_script_enabled=False)
    wrong: dict[str, str] = {}
    for name, path in all_pages(site).items():
        command = command_of(visitor.go(path))
        assert (command is None) == (name in _WITHOUT), (name, command)
        if command is None:
            continue
        (site.folder / "regressions.json").unlink(missing_ok=True)
        text = run_command(command, site.folder)
        if _SHOWN.get(name, "") not in text:
            wrong[name] = f"{command}\n{text[:2000]}"
    assert wrong == {}


FILTERS = [
    "status=failed",
    "metric=response_match_score",
    "tag=languages",
    "cause=missing+call:frost_dates",
    "q=rose+bushes",
    "sort=dataset",
    "status=failed&tag=orders&sort=dataset&by=tag",
    "status=error",
]


@pytest.mark.parametrize("query", FILTERS)
def test_command_of_a_filtered_run_lists_the_same_cases_in_the_same_order(
    query: str, site: Site, visit: NewVisit
):
    page = visit(site).go(f"/runs/{site.seeded.bad}?{query}")
    shown = page.locator("table.cases tbody th").all_inner_texts()
    text = run_command(command_of(page) or "", site.folder)
    assert re.findall(r"^(?:failed|passed) (\w+)  \(", text, re.MULTILINE) == shown
    assert f"\n{len(shown)} of 8 cases\n" in text


def test_command_follows_a_filter_that_is_typed(site: Site, visit: NewVisit):
    visitor = visit(site, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.go(f"/runs/{site.seeded.bad}?by=tag")
    page.get_by_label("status").select_option("failed")
    expect(page).to_have_url(re.compile("by=tag&status=failed$"))
    page.get_by_label("text in conversations").fill("it's cracked")
    expect(page).to_have_url(re.compile("cracked"))
    page.locator("h1").click()
    press(page, "Shift+Y")
    expect(page.locator(".toast")).to_contain_text("command copied")
    command = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    assert command[:4] == ["carob", "report", site.seeded.bad, "--status=failed"]
    assert command[4:6] == ["--text=it's cracked", "--by=tag"]
    page = visitor.go("/runs")
    page.get_by_label("verdict").select_option("passed")
    expect(page).to_have_url(re.compile("verdict=passed$"))
    shown = page.locator("tbody th").all_inner_texts()
    text = run_command(command_of(page) or "", site.folder)
    assert len(shown) == 3
    assert len(text.splitlines()) == 1 + len(shown)


def test_command_of_a_filtered_dataset_names_its_cases(site: Site, visit: NewVisit):
    page = visit(site).go("/datasets/garden_shop?tag=orders")
    text = run_command(command_of(page) or "", site.folder)
    assert re.findall(r"^\d+  (\w+)", text, re.MULTILINE) == ["delivery_date", "return_pot"]


def test_command_of_a_case_names_it_whatever_its_name_is(site: Site, visit: NewVisit):
    page = visit(site).go(f"/runs/{site.seeded.bad}/cases/hebrew?status=failed")
    assert "אין לי מידע" in run_command(command_of(page) or "", site.folder)
