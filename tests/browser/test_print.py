"""Pages on paper: all of the content, in dark ink, and nothing to click."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewVisit, Site
from tests.browser.test_pages import all_pages

_CONTROLS = "button, select, input, textarea, .button, header, footer, .tabs"
_EDGES = """(table) => {
  const left = (cell) => Math.round(cell.getBoundingClientRect().left);
  const edges = (row) => [...row.cells].map(left);
  return [edges(table.tHead.rows[0]), edges(table.tBodies[0].rows[0])];
}"""


def print_page(site: Site, visit: NewVisit, name: str, **options: Any) -> Page:
    page = visit(site, viewport={"width": 794, "height": 1123}, **options).go(all_pages(site)[name])
    page.emulate_media(media="print")
    return page


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run", "send_voucher(amount=20)"),
        ("case", "delivery_slot.day"),
        ("compare", "None of 3 metrics changed significantly"),
        ("dataset", "opening_hours"),
        ("runs", "release=1.5"),
        ("live", "When are you open?"),
        ("review-item", "I am sorry to hear that."),
        ("leaderboard", "release=1.4"),
        ("regressions", "delivery_date-regression"),
    ],
)
def test_page_is_printed_with_its_content_and_without_controls(
    name: str, content: str, site: Site, visit: NewVisit
):
    page = print_page(site, visit, name)
    expect(page.get_by_text(content).locator("visible=true").first).to_be_visible()
    visible = page.locator(_CONTROLS).locator("visible=true")
    assert [element.evaluate("e => e.outerHTML.slice(0, 80)") for element in visible.all()] == []
    for table in page.locator("main table").locator("visible=true").all():
        head, row = table.evaluate(_EDGES)
        assert head == row


@pytest.mark.parametrize("chosen", [True, False], ids=["theme chosen", "theme of the system"])
def test_dark_pages_are_printed_in_dark_ink(chosen: bool, site: Site, visit: NewVisit):
    page = print_page(site, visit, "run", color_scheme="light" if chosen else "dark")
    if chosen:
        page.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(29, 27, 22)"


def test_rows_that_are_not_loaded_leave_no_blank_paper(site: Site, visit: NewVisit):
    page = visit(site, viewport={"width": 794, "height": 1123}).go(all_pages(site)["run-large"])
    expect(page.locator(".gap")).to_have_count(1)
    page.emulate_media(media="print")
    expect(page.locator(".gap")).to_be_hidden()
    height = page.evaluate("document.documentElement.scrollHeight")
    assert height < 20 * 1123
    note = "getComputedStyle(document.querySelector('.scroll:has(.gap)'), '::after').content"
    assert "More rows" in page.evaluate(note)
