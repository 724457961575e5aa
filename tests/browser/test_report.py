"""The report of a run in a real browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from carob.analysis.summary import summarise
from carob.report.forms import ReportInputs
from carob.report.html.page import format_page
from carob.report.text import printable
from carob.schema import Case, CaseResult, CaseScore, Exchange, MetricSpec, Run, RunDataset, Turn
from carob.schema.run import UnmatchedTrace

OpenPage = Callable[..., Page]
HERE = Path(__file__).parent

NASTY = (
    "<script>alert('script')</script>",
    "</script><script>alert('end')</script>",
    "<img src=x onerror=alert('image')>",
    "<img src='https://evil.example/pixel.gif'>",
    "\"><svg onload=alert('svg')>",
    "'\" onfocus=alert('focus') autofocus x=\"",
    "<a href=\"javascript:alert('link')\">click</a>",
    "[click](javascript:alert('markdown'))",
    "<iframe srcdoc=\"<script>parent.alert('frame')</script>\"></iframe>",
    "<style>@import 'https://evil.example/style.css'; * { display: none }</style>",
    "</style><link rel=stylesheet href=https://evil.example/style.css>",
    "<meta http-equiv=refresh content='0;url=https://evil.example/'>",
    "<base href=https://evil.example/>",
    "</title><h1>not ours</h1>",
    "<!-- <script> --> ]]> <![CDATA[ {{7*7}} ${7*7} <%= 7*7 %>",
    "&lt;script&gt;alert('entity')&lt;/script&gt; &#60;b&#62;",
    '{"a": "</script><script>alert(\'json\')</script>"}',
    "\x00\x08\x1b[31mred\x1b[0m \u202egnp.exe\u202c \u2028 \u2029 \ufeff",
    "<form action=https://evil.example><button autofocus>send</button></form>",
    "<object data=https://evil.example/x></object><embed src=https://evil.example/y>",
)


def render(run: Run) -> str:
    return "".join(format_page(ReportInputs(run)))


def use(name: str) -> MetricSpec:
    return MetricSpec(
        name=name, version=1, params={}, threshold=0.8, scale=(0.0, 1.0), better="higher"
    )


def result(name: str, status: str = "passed", text: str = "") -> CaseResult:
    failed = status == "failed"
    scores = (
        CaseScore(
            metric="tool_usage_accuracy",
            status="failed" if failed else "passed",
            value=0.25 if failed else 1.0,
            threshold=0.8,
            reason=text or "missing lookup_order(order_id='MB-7'); unexpected refund()",
            details={"note": text},
        ),
        CaseScore(metric="rouge_l", status="unscored", reason=text or "no answer is expected"),
    )
    turn = Exchange(
        user=text or "When does it come?", expected=text + " on Friday", actual=text + " on Monday"
    )
    return CaseResult(
        case=name,
        trace=f"trace of {name}",
        status=status,  # pyright: ignore[reportArgumentType] - the tests write it out
        scores=scores,
        paired_by="the same id",
        exchanges=(turn,) if failed else (),
    )


def run(*results: CaseResult, name: str = "bike shop") -> Run:
    cases = [
        Case(id=result.case or "", turns=(Turn(user="Hi"),), tags=(f"tag {name}",))
        for result in results
    ]
    return Run(
        id="run-0123456789abcdef",
        created_at="2026-03-02T08:00:00Z",
        verdict="failed",
        dataset=RunDataset(name=name, version="1.2.0", digest="sha256:" + "ab" * 32, format="adk"),
        metrics=(use("tool_usage_accuracy"), use("rouge_l")),
        cases=results,
        summary=summarise(results, {case.id: case for case in cases}),
        unmatched=(UnmatchedTrace(trace=name, why=name),),
    )


def small() -> Run:
    return run(
        result("order_status"),
        result("late_parcel", "failed"),
        result("warranty", "failed", "It is covered until <June>"),
        result("opening_hours"),
    )


def visible_cases(page: Page) -> list[str]:
    return page.locator(".cases tbody:visible tr:first-child th").all_inner_texts()


@pytest.mark.parametrize("nasty", NASTY)
def test_text_of_agents_is_shown_but_inert(nasty: str, open_page: OpenPage):
    page = open_page(render(run(result(nasty, "failed", nasty), name=nasty)), "#case-1")
    page.mouse.move(300, 300)
    page.keyboard.press("Tab")
    page.wait_for_timeout(50)
    expect(page.locator("h1")).to_have_count(1)
    expect(
        page.locator("main img, iframe, object, embed, base, form button[autofocus]")
    ).to_have_count(0)
    visible_text = page.locator(".said.user .text").inner_text()
    assert visible_text.split() == printable(nasty).split()


def test_filters_work_by_keyboard_alone(open_page: OpenPage):
    page = open_page(render(small()))
    assert visible_cases(page) == ["late_parcel", "warranty", "order_status", "opening_hours"]
    page.keyboard.press("/")
    page.keyboard.type("WARRANTY")
    expect(page.get_by_role("status")).to_have_text("1 of 4 cases")
    assert visible_cases(page) == ["warranty"]
    page.keyboard.press("Escape")
    expect(page.get_by_role("status")).to_have_text("4 of 4 cases")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("status")).to_have_text("2 of 4 cases")
    assert visible_cases(page) == ["late_parcel", "warranty"]


def test_search_covers_reasons_and_answers(open_page: OpenPage):
    page = open_page(render(small()))
    page.get_by_label("Text").fill("covered june")
    expect(page.get_by_role("status")).to_have_text("1 of 4 cases")
    assert visible_cases(page) == ["warranty"]


def test_cases_are_filtered_by_the_metric_that_they_did_not_pass(open_page: OpenPage):
    page = open_page(render(small()))
    page.get_by_label("Metric not passed").select_option("tool_usage_accuracy")
    assert visible_cases(page) == ["late_parcel", "warranty"]
    page.get_by_role("button", name="Reset").click()
    expect(page.get_by_role("status")).to_have_text("4 of 4 cases")


def test_filter_without_matches_shows_no_cases(open_page: OpenPage):
    page = open_page(render(small()))
    page.get_by_label("Text").fill("nobody said this")
    expect(page.get_by_role("status")).to_have_text("0 of 4 cases")
    expect(page.locator("table.cases")).to_be_hidden()


def test_without_scripts_everything_is_readable_and_filters_are_hidden(open_page: OpenPage):
    page = open_page(render(small()), java_script_enabled=False)
    assert len(visible_cases(page)) == 4
    expect(page.locator("#filters")).to_be_hidden()
    page.locator("summary", has_text="late_parcel").click()
    expect(page.locator("ins", has_text="Monday").first).to_be_visible()


def test_link_to_a_case_opens_it_even_if_filtered(open_page: OpenPage):
    page = open_page(render(small()))
    page.get_by_label("Text").fill("nobody said this")
    expect(page.get_by_role("status")).to_have_text("0 of 4 cases")
    page.evaluate("location.hash = '#case-2'")
    expect(page.locator("#case-2 .detail")).to_be_visible()
    expect(page.locator("#case-2 .step.missing")).to_have_text(
        "missing lookup_order(order_id='MB-7')"
    )


def test_screen_reader_finds_landmarks_headings_and_names(open_page: OpenPage):
    page = open_page(render(small()))
    for role in ("banner", "main", "navigation", "contentinfo", "search"):
        expect(page.get_by_role(role)).to_have_count(1)  # pyright: ignore[reportArgumentType] - listed above
    for name in ("Summary", "Charts", "Cases"):
        expect(page.get_by_role("region", name=name, exact=True).first).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_contain_text("bike shop@1.2.0: 2 failed")
    for table in page.get_by_role("table").all():
        expect(table).to_have_accessible_name(re.compile(r"\w"))
    for image in page.get_by_role("img").all():
        expect(image).to_have_accessible_name(re.compile(r"\w"))
    for control in page.locator("input, select, button, summary").all():
        expect(control).to_have_accessible_name(re.compile(r"\w"))


def test_tab_key_moves_in_order_with_a_visible_focus(open_page: OpenPage):
    page = open_page(render(small()))
    stops: list[float] = []
    names: list[str] = []
    for _ in range(30):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const now = document.activeElement, box = now.getBoundingClientRect();
                const style = getComputedStyle(now);
                return {
                    name: now.textContent.trim() || now.getAttribute('type') || now.tagName,
                    top: now.closest('nav') || now.matches('.skip') ? -1 : box.top + scrollY,
                    outline: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
                    body: now === document.body,
                };
            }"""
        )
        if stop["body"]:
            break
        assert stop["outline"] >= 2, stop
        names.append(stop["name"])
        stops.append(stop["top"])
    assert names[:3] == ["Skip to cases", "Summary", "Causes"]
    # Controls of one row differ by a few pixels.
    assert all(top > before - 40 for before, top in pairwise(stops))


_CONTRAST = (HERE / "contrast.js").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(scheme: str, open_page: OpenPage):
    page = open_page(render(small()), "#case-2", color_scheme=scheme)
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    contrast = page.evaluate(_CONTRAST)
    assert contrast["texts"] > 80
    assert [text for text in contrast["low"] if text["ratio"] < text["wanted"]] == []


def test_color_schemes_are_respected(open_page: OpenPage):
    background = "getComputedStyle(document.body).backgroundColor"
    assert open_page(render(small()), color_scheme="dark").evaluate(background) == "rgb(20, 19, 15)"
    light = open_page(render(small()), color_scheme="light").evaluate(background)
    assert light == "rgb(251, 250, 246)"


def test_narrow_screen_does_not_scroll_horizontally(open_page: OpenPage):
    page = open_page(render(small()), "#case-2", viewport={"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    box = page.locator("#case-2 .detail").bounding_box()
    assert box is not None
    assert box["width"] <= 320


def test_layout_does_not_shift_while_loading(open_page: OpenPage):
    page = open_page(render(run(*(result(f"case {number}") for number in range(600)))))
    shift = page.evaluate(
        """() => new Promise((done) => {
            let sum = 0;
            new PerformanceObserver((list) => {
                for (const entry of list.getEntries()) sum += entry.value;
            }).observe({ type: 'layout-shift', buffered: true });
            setTimeout(() => done(sum), 300);
        })"""
    )
    assert shift < 0.01


def test_dark_report_is_printed_in_dark_ink(open_page: OpenPage):
    page = open_page(render(small()), color_scheme="dark")
    ink = "getComputedStyle(document.body).color"
    assert page.evaluate(ink) == "rgb(236, 232, 220)"
    page.emulate_media(media="print")
    assert page.evaluate(ink) == "rgb(29, 27, 22)"


def test_in_print_details_are_open_and_controls_are_hidden(open_page: OpenPage):
    page = open_page(render(small()))
    page.emulate_media(media="print")
    expect(page.locator("nav")).to_be_hidden()
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator("ins", has_text="Monday").first).to_be_visible()


def test_page_with_ten_thousand_cases_is_usable(open_page: OpenPage):
    results = [
        result(f"case {number}", "passed" if number % 10 else "failed") for number in range(10_000)
    ]
    text = render(run(*results))
    assert len(text.encode()) < 15_000_000
    page = open_page(text)
    page.get_by_label("Text").fill("case 7770")
    expect(page.get_by_role("status")).to_have_text("1 of 10,000 cases", timeout=30_000)
    assert visible_cases(page) == ["case 7770"]
