"""Every key of the list of keys, what people see who may only read, and high contrast."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from carob.api.serving.tokens import new_token
from carob.server.pages.layout import KEYS
from tests.browser.conftest import NewVisit, Site, Visit, current_row, press
from tests.browser.test_pages import all_pages
from tests.server.conftest import start_server

Story = Callable[[Visit, Site], None]


def run_page(visitor: Visit, site: Site) -> Page:
    return visitor.go(f"/runs/{site.seeded.bad}")


def search(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "/")
    expect(page.get_by_role("searchbox")).to_be_focused()


def show_keys(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()


def move(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "j", "j", "j", "k")
    expect(current_row(page)).to_contain_text("return_pot")
    expect(current_row(page).get_by_role("link").first).to_be_focused()


def open_row(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "j", "Enter")
    expect(page.locator("h1")).to_contain_text("late_frost")


def select(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "j", "x")
    expect(page.get_by_label("select late_frost")).to_be_checked()
    press(page, "x")
    expect(page.get_by_label("select late_frost")).not_to_be_checked()


def failed_only(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "f")
    expect(page.get_by_role("status").first).to_have_text("4 of 8 cases")
    press(page, "f")
    expect(page.get_by_role("status").first).to_have_text("8 of 8 cases")


def neighbours(visitor: Visit, site: Site) -> None:
    page = visitor.go(f"/runs/{site.seeded.bad}/cases/late_frost")
    press(page, "]")
    expect(page.locator("h1")).to_contain_text("return_pot")
    press(page, "[")
    expect(page.locator("h1")).to_contain_text("late_frost")


def next_tab(visitor: Visit, site: Site) -> None:
    page = visitor.go(f"/runs/{site.seeded.bad}/cases/late_frost")
    for tab in ("Spans", "Scores", "Golden", "Raw", "Conversation"):
        press(page, "t")
        expect(page.get_by_role("link", name=tab, exact=True)).to_have_attribute(
            "aria-current", "page"
        )


def fold(visitor: Visit, site: Site) -> None:
    page = visitor.go(f"/runs/{site.seeded.bad}/cases/delivery_date?tab=spans")
    expect(page.locator("main details[open]").first).to_be_visible()
    press(page, "z")
    expect(page.locator("main details[open]")).to_have_count(0)


def accept(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "j", "a")
    expect(page).to_have_url(re.compile("late_frost#script$"))


def edit(visitor: Visit, site: Site) -> None:
    page = visitor.go("/datasets/garden_shop")
    press(page, "j", "e")
    expect(page.locator("h1")).to_have_text("delivery_date")
    expect(page.get_by_role("heading", name="Source")).to_be_visible()


def item(visitor: Visit, site: Site) -> Page:
    return visitor.go(f"/review/{site.seeded.queue}?by=Nora&item=12")


def decide(visitor: Visit, site: Site) -> None:
    page = item(visitor, site)
    for key, word in (("1", "Correct"), ("2", "Wrong"), ("3", "Unsure")):
        press(page, key)
        button = page.get_by_role("button", name=word)
        expect(button).to_have_attribute("aria-pressed", "true")


def undo(visitor: Visit, site: Site) -> None:
    page = item(visitor, site)
    press(page, "u")
    expect(page.get_by_text("hidden until you have decided")).to_be_visible()


def note(visitor: Visit, site: Site) -> None:
    page = item(visitor, site)
    press(page, "n")
    expect(page.get_by_label("note")).to_be_focused()


def next_waiting(visitor: Visit, site: Site) -> None:
    page = item(visitor, site)
    title = page.locator("h1").inner_text()
    press(page, "s")
    expect(page.locator("h1")).not_to_have_text(title)


def next_item(visitor: Visit, site: Site) -> None:
    page = item(visitor, site)
    title = page.locator("h1").inner_text()
    press(page, "ArrowRight")
    expect(page.locator("h1")).not_to_have_text(title)
    press(page, "ArrowLeft")
    expect(page.locator("h1")).to_have_text(title)


def compare(visitor: Visit, site: Site) -> None:
    page = run_page(visitor, site)
    press(page, "c")
    expect(page.locator("h1")).to_contain_text("Not proven.")


def make_golden(visitor: Visit, site: Site) -> None:
    page = visitor.go("/live/talk-2")
    press(page, "g")
    expect(page.locator("h1")).to_have_text("Make this session golden")


def capture(visitor: Visit, site: Site) -> None:
    page = visitor.go("/live/talk-2")
    press(page, "r")
    expect(page.locator("h1")).to_have_text("Capture as a regression case")


def evaluate(visitor: Visit, site: Site) -> None:
    page = visitor.go("/live/talk-1")
    press(page, "v")
    expect(page.locator("h1")).to_contain_text("of 1 case")


def discard(visitor: Visit, site: Site) -> None:
    site.send_session("to-discard", "Is this spam?", "Yes.")
    page = visitor.go("/live")
    row = page.locator("tr[data-id=to-discard]")
    expect(row).to_be_visible(timeout=15_000)
    rows = page.locator("tr[data-id]").evaluate_all("rows => rows.map((row) => row.dataset.id)")
    press(page, *["j"] * (1 + rows.index("to-discard")), "d")
    expect(page.locator("h1")).to_have_text("Discard this session?")
    press(page, "d")
    expect(page.locator("h1")).to_have_text("Live sessions")
    expect(row).to_have_count(0)


def copy_link(visitor: Visit, site: Site) -> None:
    page = visitor.go("/runs?q=release")
    press(page, "y")
    expect(page.locator(".toast")).to_contain_text("link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def copy_command(visitor: Visit, site: Site) -> None:
    page = visitor.go("/metrics/rouge_l")
    press(page, "Shift+Y")
    expect(page.locator(".toast")).to_contain_text("carob metrics rouge_l")


def leave(visitor: Visit, site: Site) -> None:
    page = visitor.go(f"/runs/{site.seeded.bad}/cases/late_frost")
    press(page, "Escape")
    expect(page).to_have_url(re.compile(f"/runs/{site.seeded.bad}$"))
    press(page, "/")
    page.keyboard.type("frost")
    press(page, "Escape")
    expect(page.get_by_role("searchbox")).not_to_be_focused()


def go(letter: str, path: str) -> Story:
    def story(visitor: Visit, _site: Site) -> None:
        page = visitor.go("/metrics/rouge_l")
        press(page, "g", letter)
        expect(page).to_have_url(re.compile(f"{path}$"))

    return story


STORIES: Mapping[str, Story] = {
    "/": search,
    "?": show_keys,
    "j k": move,
    "enter": open_row,
    "x": select,
    "f": failed_only,
    "[ ]": neighbours,
    "t": next_tab,
    "z": fold,
    "a": accept,
    "e": edit,
    "c": compare,
    "g": make_golden,
    "r": capture,
    "v": evaluate,
    "d": discard,
    "1 2 3": decide,
    "u": undo,
    "n": note,
    "s": next_waiting,
    "← →": next_item,
    "y": copy_link,
    "Y": copy_command,
    "esc": leave,
    "g h": go("h", "/"),
    "g r": go("r", "/runs"),
    "g d": go("d", "/datasets"),
    "g v": go("v", "/review"),
    "g l": go("l", "/live"),
    "g m": go("m", "/metrics"),
    "g u": go("u", "/upload"),
    "g s": go("s", "/settings"),
}


def test_every_key_of_the_list_does_what_it_says(site: Site, visit: NewVisit):
    assert list(STORIES) == [key for key, _ in KEYS]
    visitor = visit(site, permissions=["clipboard-read", "clipboard-write"])
    for story in STORIES.values():
        story(visitor, site)


def test_single_keys_can_be_switched_off(site: Site, visit: NewVisit):
    visitor = visit(site)
    page = visitor.go("/runs")
    press(page, "?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.get_by_role("button", name="Switch single keys off").click()
    press(page, "Escape", "j")
    expect(current_row(page)).to_have_count(0)
    press(visitor.go("/settings"), "g", "r")
    expect(page).to_have_url(re.compile("/settings$"))
    page.get_by_role("button", name="Open the list").click()
    page.get_by_role("button", name="Switch single keys on").click()
    press(page, "Escape", "g", "r")
    expect(page).to_have_url(re.compile("/runs$"))


def test_no_single_key_acts_while_they_are_off(site: Site, visit: NewVisit):
    visitor = visit(site)
    page = run_page(visitor, site)
    page.evaluate("localStorage.setItem('carob-keys-off', '1')")
    page.reload()
    before = page.url
    for key, _ in KEYS:
        if len(key) == 1:
            press(page, "Shift+Y" if key == "Y" else key)
    expect(page.locator(".current, .toast, dialog[open], input:checked")).to_have_count(0)
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    assert page.url == before


class Guarded(NamedTuple):
    """A server with two tokens."""

    site: Site
    reader: str
    writer: str


@pytest.fixture(scope="module")
def guarded(site: Site) -> Iterator[Guarded]:
    """The same store on a server that requires tokens."""
    reader = new_token(site.store, "reader", ["read"]).token
    writer = new_token(site.store, "writer", ["read", "write"]).token
    process = start_server(site.folder, "--store", site.store, "--require-token")
    yield Guarded(site._replace(process=process), reader, writer)
    assert process.stop() == 0


_WRITES = """() => [...document.querySelectorAll(
  'form[method=post] :is(button, input:not([type=hidden]), select, textarea), .writes'
)].filter((element) => element.checkVisibility())
  .map((element) => element.outerHTML.slice(0, 120))"""


def test_readers_see_no_button_that_would_be_refused(guarded: Guarded, visit: NewVisit):
    site, header = guarded.site, {"Authorization": f"Bearer {guarded.reader}"}
    visitor = visit(site, extra_http_headers=header)
    refused: dict[str, list[str]] = {}
    for name, path in all_pages(site).items():
        page = visitor.go(path)
        if name != "not-found":
            expect(page.locator("header")).to_contain_text("read only")
        if visible := page.evaluate(_WRITES):
            refused[name] = visible
    assert refused == {}
    page = run_page(visitor, site)
    press(page, "j", "x", "v", "r")
    expect(page).to_have_url(re.compile(f"/runs/{site.seeded.bad}$"))
    press(visitor.go("/live"), "j", "g")
    page.wait_for_timeout(900)  # until `g` is known to start no other key
    expect(page.locator("h1")).to_have_text("Live sessions")


def test_writers_see_the_buttons(guarded: Guarded, visit: NewVisit):
    site, header = guarded.site, {"Authorization": f"Bearer {guarded.writer}"}
    visitor = visit(site, extra_http_headers=header)
    page = run_page(visitor, site)
    expect(page.get_by_role("button", name="Run again")).to_be_visible()
    expect(page.locator("header")).not_to_contain_text("read only")


def test_high_contrast_keeps_what_color_says(site: Site, visit: NewVisit):
    visitor = visit(site, forced_colors="active")
    page = run_page(visitor, site)
    press(page, "j")
    style = "(element, name) => getComputedStyle(element)[name]"
    assert current_row(page).evaluate(style, "outlineStyle") == "solid"
    entries = page.locator("header li a")
    borders = {entry.evaluate(style, "borderBottomColor") for entry in entries.all()}
    assert len(borders) == 2  # the current page, and the others
    missing, extra = page.locator("main del").first, page.locator("main ins").first
    assert missing.evaluate(style, "borderBottomStyle") == "solid"
    assert extra.evaluate(style, "outlineStyle") == "solid"
