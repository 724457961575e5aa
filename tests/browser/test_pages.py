"""All pages in a real browser: no findings of axe, no overflow, no foreign requests."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ARTIFACTS, NewVisit, Site

_AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_REPEATED = [
    "tbody tr:nth-child(n+13)",
    "tbody + tbody",
    ".stretch > .turn:nth-of-type(n+5)",
    ".text > :nth-child(n+20)",
]
"""Rows, turns and marks beyond the first ones: what axe says of them, it says of those."""
_OVERFLOW = """() => {
  const width = document.documentElement.clientWidth;
  const outside = [...document.querySelectorAll('main *, header *, footer *')].filter((element) => {
    const box = element.getBoundingClientRect();
    const clipped = element.parentElement.closest('.scroll, pre');
    const hidden = element.closest('.unseen, .skip') || clipped;
    return box.width && box.right > width + 1 && !hidden;
  });
  return {
    scroll: document.documentElement.scrollWidth - width,
    outside: outside.slice(0, 3).map((element) => element.outerHTML.slice(0, 120)),
  };
}"""


def all_pages(site: Site) -> Mapping[str, str]:
    """The address of every page, by name."""
    seeded, shop = site.seeded, "/datasets/garden_shop"
    case = f"/runs/{seeded.bad}/cases/delivery_date"
    return {
        "home": "/",
        "runs": "/runs",
        "run": f"/runs/{seeded.bad}",
        "run-passed": f"/runs/{seeded.good}",
        "run-filtered": f"/runs/{seeded.bad}?status=failed&by=tag",
        "run-large": f"/runs/{seeded.large}",
        "case": case,
        "case-right-to-left": f"/runs/{seeded.bad}/cases/hebrew",
        "case-200-turns": f"/runs/{seeded.bad}/cases/long_talk",
        "case-japanese": f"/runs/{seeded.bad}/cases/japanese",
        "case-100-kB": f"/runs/{seeded.bad}/cases/long_answer",
        "case-spans": f"{case}?tab=spans",
        "case-scores": f"{case}?tab=scores",
        "case-golden": f"{case}?tab=golden",
        "case-raw": f"{case}?tab=raw",
        "regression": f"/runs/{seeded.bad}/regression?case=delivery_date",
        "regressions": f"/runs/{seeded.bad}/regressions?places=0,1,2",
        "leaderboards": "/leaderboards",
        "leaderboard": "/leaderboards/releases",
        "compare": f"/compare?base={seeded.good}&run={seeded.bad}",
        "compare-choose": "/compare",
        "datasets": "/datasets",
        "dataset": shop,
        "dataset-version": f"{shop}@1.0.0",
        "dataset-version-case": f"{shop}@1.0.0/cases/delivery_date",
        "dataset-diff": f"{shop}/diff?from=1.0.0",
        "dataset-findings": f"{shop}/findings",
        "dataset-case": f"{shop}/cases/delivery_date",
        "case-editor": f"{shop}/cases/delivery_date/edit",
        "case-new": f"{shop}/new",
        "review": "/review",
        "review-item": f"/review/{seeded.queue}?by=Mara",
        "review-decided": f"/review/{seeded.queue}?by=Ida&item=0",
        "live": "/live",
        "session": "/live/talk-2",
        "session-golden": "/live/talk-2/golden",
        "session-compare": "/live/talk-1/compare",
        "session-regression": "/live/talk-2/regression",
        "session-discard": "/live/talk-1/discard",
        "upload": "/upload",
        "metrics": "/metrics",
        "metric": "/metrics/rouge_l",
        "settings": "/settings",
        "not-found": "/runs/nothing",
    }


def accessibility_findings(page: Page, *, colors_only: bool = False) -> list[str]:
    page.evaluate(_AXE)
    tags = {"type": "tag", "values": _RULES}
    colors = {"type": "rule", "values": ["color-contrast"]}
    # Without the details of what is right, axe takes a third of the time.
    options = {"runOnly": colors if colors_only else tags, "resultTypes": ["violations"]}
    violations: list[dict[str, Any]] = page.evaluate(
        """([exclude, options]) =>
            axe.run({ include: document, exclude }, options).then((result) => result.violations)""",
        [_REPEATED, options],
    )
    return [
        f"{found['id']}: {node['html'][:120]}"
        for found in violations
        for node in found["nodes"][:3]
    ]


_NAMED = "button|link|textbox|searchbox|checkbox|combobox|table|region|navigation|dialog|img"
_NAMELESS = re.compile(rf"^\s*- (?:{_NAMED})(?: \[[^\]]*\])*:?$", re.MULTILINE)


def nameless_elements(page: Page) -> list[str]:
    """What a screen reader would announce without a name."""
    return [f"no name: {line.strip()}" for line in _NAMELESS.findall(screen_reader_text(page))]


def screen_reader_text(page: Page) -> str:
    """The accessibility tree of a page: role, name and state of everything."""
    return page.locator("body").aria_snapshot()


def test_axe_and_screen_readers_find_nothing_to_criticize(site: Site, visit: NewVisit):
    # Tall enough that the keys at the bottom cover none of the rows.
    visitor = visit(site, color_scheme="light", viewport={"width": 1280, "height": 1600})
    findings: dict[str, list[str]] = {}
    for name, path in all_pages(site).items():
        page = visitor.go(path)
        problems = [*accessibility_findings(page), *nameless_elements(page)]
        page.emulate_media(color_scheme="dark")  # the same elements in other colors
        problems += [f"dark {text}" for text in accessibility_findings(page, colors_only=True)]
        page.emulate_media(color_scheme="light")
        findings |= {name: problems} if problems else {}
    assert findings == {}


def test_axe_finds_nothing_to_criticize_on_a_phone(site: Site, visit: NewVisit):
    visitor = visit(site, viewport={"width": 390, "height": 1600}, is_mobile=True, has_touch=True)
    case = "/datasets/garden_shop/cases/delivery_date/edit"
    findings: dict[str, list[str]] = {}
    for path in ("/runs", f"/runs/{site.seeded.bad}", case, "/live", "/datasets/garden_shop"):
        if problems := accessibility_findings(visitor.go(path)):
            findings[path] = problems
    assert findings == {}


def test_links_are_large_enough_where_names_wrap(site: Site, visit: NewVisit):
    page = visit(site, viewport={"width": 320, "height": 1600}).go(
        f"/runs/{site.seeded.bad}/cases/delivery_date"
    )
    page.locator(".crumbs li:last-child span").evaluate("name => name.textContent = 'x'.repeat(99)")
    assert accessibility_findings(page) == []


def test_screen_reader_hears_verdict_causes_and_cases(site: Site, visit: NewVisit):
    text = screen_reader_text(visit(site).go(f"/runs/{site.seeded.bad}"))
    assert re.search(r'heading ".*Failed\. 4 of 8 cases failed\." \[level=1\]', text)
    assert 'table "Causes"' in text
    assert re.search(r'row "select late_frost failed late_frost .*last 6: passed, failed', text)
    assert re.search(r'link "Review \d+ waiting"', text)


@pytest.mark.parametrize(
    ("width", "height", "scheme"),
    [
        (320, 640, "light"),
        (640, 400, "light"),  # 1280 pixels at a zoom of 200 %
        (1280, 800, "dark"),
        (2560, 1440, "light"),
        (3840, 2160, "dark"),
    ],
)
def test_pages_fit_every_screen(width: int, height: int, scheme: str, site: Site, visit: NewVisit):
    folder = ARTIFACTS / f"{width}-{scheme}"
    folder.mkdir(parents=True, exist_ok=True)
    visitor = visit(site, viewport={"width": width, "height": height}, color_scheme=scheme)
    wide: dict[str, object] = {}
    # At other sizes only what has columns of its own: the others stop growing at 1640 pixels.
    some = {"run", "case", "case-spans", "compare", "case-editor", "dataset", "live", "leaderboard"}
    for name, path in all_pages(site).items():
        if width not in (320, 1280) and name not in some:
            continue
        page = visitor.go(path)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        overflow = page.evaluate(_OVERFLOW)
        if overflow["scroll"] > 0 or overflow["outside"]:
            wide[name] = overflow
        page.screenshot(path=folder / f"{name}.png")
    assert wide == {}


def test_empty_server_says_how_to_begin(empty_site: Site, visit: NewVisit):
    visitor = visit(empty_site)
    expect(visitor.go("/").locator("h1")).to_have_text("Nothing here yet. Three ways to begin")
    expect(visitor.go("/runs").locator("pre").first).to_contain_text("carob run")
    live = visitor.go("/live")
    expect(live.locator("pre")).to_contain_text(empty_site.process.addresses["otlp"])
    expect(live.locator(".heartbeat.on")).to_have_count(0)
    for path in ("/datasets", "/review", "/compare", "/upload", "/settings"):
        assert accessibility_findings(visitor.go(path)) == []


def test_first_span_turns_the_heartbeat_green_without_a_reload(empty_site: Site, visit: NewVisit):
    page = visit(empty_site).go("/live")
    page.wait_for_timeout(300)  # until the stream is open
    empty_site.send_session("first", "Do you sell gift cards?", "Yes, from 10 euros.")
    expect(page.locator(".heartbeat.on")).to_be_visible(timeout=20_000)
    expect(page.locator("tr[data-id=first]")).to_contain_text("Do you sell gift cards?")


def test_demo_is_loaded_by_one_button(empty_site: Site, visit: NewVisit):
    page = visit(empty_site).go("/")
    page.get_by_role("button", name="Load the demo").click()
    expect(page.locator("h1")).to_contain_text("Failed.")
    expect(page.get_by_role("region", name="Causes")).to_contain_text("check_warranty")


@pytest.fixture(scope="module")
def empty_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with nothing in it."""
    from tests.browser.workspace import Seeded
    from tests.server.conftest import start_server

    folder = tmp_path_factory.mktemp("empty")
    process = start_server(folder)
    yield Site(process, Seeded("", "", "", "", ""), folder, "")
    assert process.stop() == 0


@pytest.mark.parametrize("path", ["/", "/runs", "/live", "/review", "/datasets/garden_shop"])
def test_scripts_are_small_and_our_own(path: str, site: Site, visit: NewVisit):
    visitor = visit(site)
    sizes: dict[str, int] = {}
    visitor.page.on(
        "response",
        lambda answer: (
            sizes.update({answer.url: len(answer.body())}) if answer.url.endswith(".js") else None
        ),
    )
    visitor.go(path)
    expect(visitor.page.locator("html.scripted")).to_have_count(1)
    assert 0 < sum(sizes.values()) <= 30_000


def test_motion_stops_for_those_who_ask(site: Site, visit: NewVisit):
    page = visit(site, reduced_motion="reduce").go("/live")
    # In one step: the page may be refreshed between two.
    animation = page.locator("tbody tr").first.evaluate(
        """(row) => {
            row.classList.add('fresh');
            return getComputedStyle(row.cells[0]).animationName;
        }"""
    )
    assert animation == "none"


def test_theme_can_be_chosen_and_stays(site: Site, visit: NewVisit):
    visitor = visit(site, color_scheme="light")
    background = "getComputedStyle(document.body).backgroundColor"
    page = visitor.go("/runs")
    assert page.evaluate(background) == "rgb(251, 250, 246)"
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(background) == "rgb(20, 19, 15)"
    assert visitor.go("/datasets").evaluate(background) == "rgb(20, 19, 15)"


_BOXES = """() => Object.fromEntries([...document.querySelectorAll(
  'header, main, h1, .columns > section, .filters, .pair.head > *, .editor > form, .scroll'
)].slice(0, 14).map((element, index) => {
  const box = element.getBoundingClientRect();
  return [`${index} ${element.tagName.toLowerCase()}`, [box.left, box.width].map(Math.round)];
}))"""
_LAYOUTS = {
    # Left edge and width of columns, by width of the window: two columns that stack on a small
    # screen, and one column in the middle of a large one. Fonts may differ.
    320: {
        "run": {"3 section": [14, 292], "5 section": [14, 292]},
        "case": {"3 h2": [14, 292], "4 h2": [14, 292]},
        "leaderboard": {"4 div": [14, 292]},
    },
    1280: {
        "run": {"1 main": [0, 1280], "3 section": [28, 590], "5 section": [662, 590]},
        "case": {"3 h2": [28, 598], "4 h2": [654, 598]},
        "case-editor": {"3 form": [28, 596], "4 form": [656, 596]},
        "compare": {"3 div": [28, 1224]},
        "live": {"3 form": [28, 1224], "4 div": [28, 1224]},
    },
    2560: {"run": {"2 h1": [460, 1375], "3 section": [460, 798], "8 div": [460, 1640]}},
}


@pytest.mark.parametrize("width", _LAYOUTS)
def test_columns_are_where_they_were(width: int, site: Site, visit: NewVisit):
    visitor = visit(site, viewport={"width": width, "height": 800})
    for name, layout in _LAYOUTS[width].items():
        boxes = visitor.go(all_pages(site)[name]).evaluate(_BOXES)
        for place, expected in layout.items():
            assert place in boxes, (name, boxes)
            differences = [abs(a - b) for a, b in zip(boxes[place], expected, strict=True)]
            assert max(differences) <= 12, (name, place, boxes)


def test_table_of_sessions_fits_without_scrolling(site: Site, visit: NewVisit):
    page = visit(site).go("/live")
    hidden = "(region) => region.scrollWidth - region.clientWidth"
    assert page.get_by_role("region", name="Sessions").evaluate(hidden) <= 0
