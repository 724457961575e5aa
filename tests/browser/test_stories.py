"""What people do with the pages, end to end: by keyboard alone, and without scripts."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewVisit, Site, Visit, current_row, press
from tests.browser.workspace import SHOP


def golden_answer(site: Site, case: str) -> str:
    """What the golden file expects of the first turn of a case."""
    file = site.folder / "golden" / f"{SHOP}.evalset.json"
    cases = json.loads(file.read_text("utf-8"))["eval_cases"]
    found = next(entry for entry in cases if entry["eval_id"] == case)
    return found["conversation"][0]["final_response"]["parts"][0]["text"]


def test_failures_are_found_by_cause_and_opened_by_keyboard(shop: Site, visit: NewVisit):
    page = visit(shop).go(f"/runs/{shop.seeded.bad}")
    expect(page.get_by_role("region", name="Causes")).to_contain_text("tool not called frost_dates")
    press(page, "f")
    expect(page).to_have_url(re.compile("status=failed"))
    expect(page.get_by_role("status").first).to_have_text("4 of 8 cases")
    press(page, "j", "j")
    expect(current_row(page)).to_contain_text("return_pot")
    press(page, "Enter")
    expect(page.locator("h1")).to_contain_text("return_pot")
    expect(page.locator(".ins-call")).to_contain_text("send_voucher")
    press(page, "]")
    expect(page.get_by_text("3 of 4 in this filter")).to_be_visible()
    press(page, "t")
    expect(page.get_by_role("link", name="Spans")).to_have_attribute("aria-current", "page")
    press(page, "Escape")
    expect(page).to_have_url(re.compile("status=failed"))


def test_key_opens_the_edit_script_of_the_current_case_and_accepts_nothing(
    shop: Site, visit: NewVisit
):
    page = visit(shop).go(f"/runs/{shop.seeded.bad}?status=failed")
    press(page, "a")  # without a current case it does nothing
    expect(page).to_have_url(re.compile("status=failed$"))
    press(page, "j", "j")
    case = current_row(page).locator("a").first.inner_text()
    before = golden_answer(shop, case)
    page.keyboard.down("a")
    expect(page).to_have_url(re.compile(rf"/cases/{case}\?status=failed#script$"))
    expect(page.locator("#script")).to_be_in_viewport()
    expect(page.locator("html.scripted")).to_have_count(1)
    page.keyboard.down("a")  # still held down
    expect(page.locator("#script")).to_be_visible()
    page.keyboard.up("a")
    assert golden_answer(shop, case) == before
    press(page, "Escape")
    expect(page).to_have_url(re.compile(r"/runs/[^/]*\?status=failed$"))


def test_filter_applies_while_it_is_typed(shop: Site, visit: NewVisit):
    page = visit(shop).go(f"/runs/{shop.seeded.bad}")
    press(page, "/")
    page.keyboard.type("frost")
    expect(page.locator("table.cases tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=frost"))
    page.reload()
    expect(page.locator("table.cases tbody tr")).to_have_count(1)
    expect(page.get_by_role("searchbox")).to_have_value("frost")


def test_cause_is_added_to_the_filter_that_was_applied_without_a_reload(
    shop: Site, visit: NewVisit
):
    page = visit(shop).go(f"/runs/{shop.seeded.bad}")
    page.get_by_label("status").select_option("failed")
    expect(page).to_have_url(re.compile(r"status=failed$"))
    page.get_by_role("region", name="Causes").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"status=failed&cause="))
    expect(page.locator("html.scripted")).to_have_count(1)
    page.get_by_label("status").select_option("passed")
    expect(page.locator("#cases")).to_contain_text("No case matches.")
    page.get_by_role("region", name="Causes").get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(r"/runs/[^/?]*\?status=passed$"))


def test_large_table_is_a_window_over_all_rows(shop: Site, visit: NewVisit):
    page = visit(shop).go(f"/runs/{shop.seeded.large}")
    table = page.locator("table.cases")
    expect(table).to_have_attribute("aria-rowcount", "2501")
    expect(page.locator("nav.pages[data-numbers]")).to_have_count(0)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator("tr[aria-rowindex='2501']")).to_contain_text("plant_0")
    assert page.locator("table.cases tbody tr:not(.gap)").count() < 300
    assert page.locator("table.cases tbody").count() < 10
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    middle = page.locator("tr[aria-rowindex='1300']")
    expect(middle).to_contain_text("plant_0")
    page.evaluate("scrollTo(0, 0)")
    expect(middle).to_have_count(0)
    expect(page.locator("tr[aria-rowindex='2501']")).to_have_count(0)
    assert page.locator("table.cases tbody").count() < 10


def test_filter_of_a_large_table_brings_a_screen_of_rows_and_loads_the_others(
    shop: Site, visit: NewVisit
):
    page = visit(shop).go(f"/runs/{shop.seeded.large}")
    with page.expect_response(re.compile("/table")) as answer:
        page.get_by_label("status").select_option("failed")
    assert answer.value.text().count("<tr>") == 51
    expect(page.locator("table.cases")).to_have_attribute("aria-rowcount", "359")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(page.locator("tr[aria-rowindex='359']")).to_contain_text("plant_0")
    names = page.locator("table.cases tbody th").all_inner_texts()
    assert len(set(names)) == len(names)
    page.get_by_label("text in conversations").fill("no such words")
    expect(page.locator("#cases")).to_contain_text("No case matches.")
    page.get_by_label("text in conversations").fill("plant_00007")
    expect(page.locator("table.cases tbody tr")).to_have_count(1)
    page.get_by_label("select plant_00007").check()  # the form of the answer works
    page.get_by_role("button", name="Review").first.click()
    expect(page.locator("h1")).to_contain_text("1 selected")


def test_what_moved_is_said_for_every_flip(shop: Site, visit: NewVisit):
    page = visit(shop).go(f"/compare?base={shop.seeded.good}&run={shop.seeded.bad}")
    frost = page.locator("article", has_text="late_frost")
    expect(frost).to_contain_text("moved: tool calls, agent answer, model fern-1 → fern-2")
    expect(frost).to_contain_text("golden same · metric same · mapping same")
    expect(page.locator(".lead")).to_contain_text(re.compile(r"\[−.*\], p .*smallest drop that"))
    page.get_by_role("link", name="only the text differs").click()
    expect(page.locator("article.flip")).to_have_count(1)
    expect(page.locator("article.flip")).to_contain_text("hebrew")


def test_two_runs_of_the_list_are_compared(shop: Site, visit: NewVisit):
    page = visit(shop).go("/runs?dataset=garden_shop&q=release")
    press(page, "j", "x", "j", "x", "c")
    expect(page.locator("h1")).to_contain_text("Not proven.")
    expect(page.get_by_text(f"base {shop.seeded.good}")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_change_is_accepted_line_by_line_and_released(scripts: bool, shop: Site, visit: NewVisit):
    case = "late_frost" if scripts else "return_pot"
    visitor = visit(shop, java_script_enabled=scripts)
    page = visitor.go(f"/runs/{shop.seeded.bad}/cases/{case}")
    lines = page.locator(".script li")
    if scripts:  # accept the answer, but go on to expect the call
        expect(lines).to_have_count(2)
        lines.first.get_by_role("checkbox").uncheck()
        press(page, "a")
    else:
        expect(lines).to_have_count(1)
        page.get_by_role("button", name="Accept checked as golden").click()
    expect(page.locator(".golden-edge")).to_contain_text(f"Case {case} is in the draft")
    expect(page.locator(".lead").first).to_contain_text(
        re.compile(r"Draft: \d+ changes? → 2\.0\.0|→ 3")
    )
    if scripts:
        assert golden_answer(shop, case) == "No, plant them now."
    page.get_by_role("link", name="See what changed").click()
    expect(page.locator("table.versions")).to_contain_text(case)
    page.go_back()
    page.get_by_label("your name").first.fill("Mara")
    page.get_by_role("button", name=re.compile(r"Release \d")).click()
    expect(page.locator("h1")).to_contain_text(re.compile(rf"{SHOP}@[23]\.0\.0"))


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_review_hides_the_opinion_until_decided_and_moves_kappa(
    scripts: bool, shop: Site, visit: NewVisit
):
    name = "Noa" if scripts else "Ben"
    visitor = visit(shop, java_script_enabled=scripts)
    first = "" if scripts else "&item=21"
    page = visitor.go(f"/review/{shop.seeded.queue}?by={name}{first}")
    expect(page.get_by_text("hidden until you have decided")).to_be_visible()
    expect(page.get_by_text("The judge says so.")).to_have_count(0)
    before = page.locator(".meter").inner_text()
    if scripts:
        press(page, "1")
    else:
        page.get_by_role("button", name="correct").click()
    expect(page.get_by_text("The judge says so.")).to_be_visible()
    expect(page.locator(".meter")).not_to_have_text(before)
    expect(page.locator(".meter")).to_contain_text(re.compile(r"κ −?\.?\d.* \["))
    if scripts:
        press(page, "ArrowRight")
        expect(page.locator("h1")).to_contain_text("item 2 of 40")
        press(page, "n")
        page.keyboard.type("too curt")
        page.locator("input[name=note]").blur()
        press(page, "2")
        expect(page.locator("button[value=failed]")).to_have_attribute("aria-pressed", "true")
        expect(page.locator("input[name=note]")).to_have_value("too curt")
        press(page, "u")
        expect(page.get_by_text("hidden until you have decided")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_session_becomes_golden(scripts: bool, shop: Site, visit: NewVisit):
    name = "golden-1" if scripts else "golden-2"
    shop.send_session(name, f"Is {name} in stock? Ask lena.roth@example.org", "Yes, three of them.")
    visitor = visit(shop, java_script_enabled=scripts)
    page = visitor.go("/live")
    wait_for_session(page, name)
    if scripts:  # three keys: g on the row, enter
        press(page, *["j"] * (1 + row_place(page, name)))
        expect(current_row(page)).to_contain_text(name)
        press(page, "g")
        expect(page.locator("h1")).to_have_text("Make this session golden")
        expect(page.locator(".problems")).to_contain_text("email address")
        press(page, "Enter")
    else:
        page.get_by_role("link", name=name, exact=True).click()
        page.get_by_role("link", name="Make golden…").click()
        expect(page.locator(".problems")).to_contain_text("email address")
        page.get_by_role("button", name="Add to the draft").click()
    expect(page.locator(".golden-edge")).to_contain_text("is in the draft")
    page.locator(".golden-edge a").click()
    page.get_by_role("link", name=re.compile("^case-")).click()
    expect(page.get_by_text("Captured from session")).to_contain_text(name)


def wait_for_session(page: Page, name: str) -> None:
    for _ in range(40):
        if page.get_by_role("link", name=name, exact=True).count():
            return
        page.wait_for_timeout(250)
        page.reload()
    raise AssertionError(f"session {name} did not appear")


def row_place(page: Page, name: str) -> int:
    ids = page.locator("tr[data-id]").evaluate_all("rows => rows.map((row) => row.dataset.id)")
    return ids.index(name)


def test_selected_sessions_are_evaluated_and_strangers_named(shop: Site, visit: NewVisit):
    page = visit(shop).go("/live")
    for name in ("talk-1", "talk-2"):
        page.get_by_label(f"select {name}").check()
    press(page, "v")
    expect(page.locator("h1")).to_have_text(f"1 session scored against {SHOP}")
    expect(page.get_by_role("region", name="Sessions without a case")).to_contain_text("talk-2")
    page.get_by_role("link", name=re.compile("^run-")).click()
    expect(page.locator("h1")).to_contain_text("of 1 case")


def test_live_page_says_what_a_session_supports_and_what_is_missing(shop: Site, visit: NewVisit):
    page = visit(shop).go("/live")
    silent = page.locator("tr[data-id='talk-3']")
    expect(silent).to_contain_text("(content not recorded)")
    expect(silent).to_contain_text("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_editor_shows_problems_at_their_line_and_keeps_the_text(
    scripts: bool, shop: Site, visit: NewVisit
):
    page = visit(shop, java_script_enabled=scripts).go(f"/datasets/{SHOP}/cases/opening_hours/edit")
    source = page.locator("textarea[name=source]")
    good = source.input_value()
    broken = good.replace('"turns": [', '"turns": 7, "was": [')
    source.fill(broken)
    if not scripts:
        page.get_by_role("button", name="Save the source to the draft").click()
        assert source.input_value() == broken
    expect(page.locator("#problems")).to_contain_text("line 3")
    expect(page.locator("#problems")).to_contain_text("Expected `array`, got `int`")
    source.fill(good)
    if scripts:
        expect(page.locator("#problems")).to_contain_text("No problems.")


def test_fields_of_a_case_are_saved_and_the_rest_stays(shop: Site, visit: NewVisit):
    page = visit(shop).go(f"/datasets/{SHOP}/cases/japanese/edit")
    page.get_by_label("agent should answer").first.fill("金曜日に届きます。")
    page.get_by_label("tags, separated by commas").fill("languages, delivery")
    page.get_by_role("button", name="Save the form to the draft").click()
    expect(page.locator(".golden-edge")).to_contain_text("japanese")
    assert golden_answer(shop, "japanese") == "金曜日に届きます。"


def test_case_shows_its_past_runs_and_flaky_ones_are_marked(shop: Site, visit: NewVisit):
    visitor = visit(shop)
    page = visitor.go(f"/datasets/{SHOP}")
    expect(page.get_by_role("row", name="late_frost")).to_contain_text("flaky")
    page.get_by_role("link", name="late_frost", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("Past runs"))).to_contain_text(
        "of 6 runs passed"
    )
    page.get_by_role("region", name="Past runs").get_by_role("link").first.click()
    expect(page.locator("h1")).to_contain_text("late_frost")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_selected_cases_are_run_again(scripts: bool, shop: Site, visit: NewVisit):
    page = visit(shop, java_script_enabled=scripts).go(f"/datasets/{SHOP}")
    page.get_by_label("select opening_hours").check()
    page.get_by_label("select hebrew").check()
    page.get_by_role("button", name="Run", exact=True).click()
    for _ in range(40):
        if "/runs/" in page.url:
            break
        page.wait_for_timeout(250)
        if not scripts:
            page.reload()
    expect(page.locator("h1")).to_contain_text("of 2 cases")


def test_traces_are_uploaded_understood_and_run(shop: Site, visit: NewVisit):
    from importlib import resources

    visitor = visit(shop, java_script_enabled=False)
    page = visitor.go("/upload")
    traces = resources.files("carob") / "demo" / "data" / "traces" / "good.otlp.jsonl"
    upload(page, "/upload/traces", "good.otlp.jsonl", traces.read_bytes())
    expect(page.locator("h1")).to_contain_text(re.compile(r"\d+ traces, \d+ turns"))
    page.get_by_text("Choose metrics").click()
    expect(page.get_by_role("region", name="Metrics")).to_contain_text("tool_trajectory_avg_score")
    upload(
        visitor.go("/upload"),
        "/upload/check",
        "golden.json",
        b'{"eval_set_id": "x", "eval_cases": 7}',
    )
    expect(page.locator("h1")).to_contain_text("✗ Invalid.")


def upload(page: Page, action: str, name: str, content: bytes) -> None:
    form = page.locator(f"form[action='{action}']")
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    form.locator("input[type=file]").set_input_files(files=[file])  # pyright: ignore[reportArgumentType] - as documented
    form.locator("button[type=submit]").click()


def test_link_and_command_of_a_filtered_view_are_copied(site: Site, visit: NewVisit):
    visitor: Visit = visit(site, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.go(f"/runs/{site.seeded.bad}?status=failed")
    press(page, "y")
    expect(page.locator(".toast")).to_contain_text("link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    press(page, "Shift+Y")
    expect(page.locator(".toast")).to_contain_text("command copied")
    command = f"carob report {site.seeded.bad} --status=failed --store {site.store}"
    assert page.evaluate("navigator.clipboard.readText()") == command


def test_run_list_is_searched_and_pages_without_scripts(shop: Site, visit: NewVisit):
    page = visit(shop, java_script_enabled=False).go("/runs")
    page.get_by_role("searchbox").fill("release=1.4")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("table.list tbody tr")).to_have_count(1)
    page.goto(f"{shop.address}/runs/{shop.seeded.large}")
    page.get_by_role("link", name="2", exact=True).click()
    expect(page).to_have_url(re.compile("page=2"))
    expect(page.locator("table.cases tbody tr")).to_have_count(100)


def test_spans_are_folded_under_their_turns_and_the_wrong_one_is_marked(
    shop: Site, visit: NewVisit
):
    page = visit(shop).go(f"/runs/{shop.seeded.bad}/cases/delivery_date?tab=spans")
    turns = page.locator("details.turn")
    expect(turns).to_have_count(2)
    expect(turns.first.locator("summary").first).to_contain_text("why this failed")
    expect(page.locator(".pointed th")).to_have_text(
        re.compile("execute_tool delivery_slot.*tool argument differs delivery_slot.day")
    )
    expect(turns.last.locator("table")).to_be_hidden()
    press(page, "z", "z")
    expect(turns.last.locator("table")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_failed_case_becomes_a_regression_case_once(scripts: bool, shop: Site, visit: NewVisit):
    page = visit(shop, java_script_enabled=scripts).go(
        f"/runs/{shop.seeded.bad}/cases/{'delivery_date' if scripts else 'hebrew'}"
    )
    if scripts:
        press(page, "r")
        expect(page.locator(".lead")).to_contain_text("turn 1: changed call of delivery_slot")
        expect(page.locator(".lead")).to_contain_text("1 of 2 turns are kept")
        press(page, "Enter")
        expect(page.locator(".golden-edge")).to_contain_text("delivery_date-regression-")
        page.get_by_role("link", name=re.compile("^delivery_date-regression-")).last.click()
        expect(page.get_by_text("Captured from a failure of")).to_contain_text(shop.seeded.bad)
    else:  # one turn: the golden case itself covers it
        page.get_by_role("link", name="Capture as a regression case…").click()
        expect(page.locator(".golden-edge")).to_contain_text("Nothing to add: hebrew")
        expect(page.get_by_role("button", name=re.compile("Add to the draft"))).to_have_count(0)


def test_session_becomes_a_regression_case_without_personal_data(shop: Site, visit: NewVisit):
    page = visit(shop, java_script_enabled=False).go("/live/talk-2")
    page.get_by_role("link", name="Capture as a regression case…").click()
    expect(page.locator(".user, .turn").first).to_contain_text("Send it to <email-1> please")
    page.get_by_role("button", name="Add to the draft").click()
    page.locator(".golden-edge a").click()
    expect(page.locator("textarea[name=source]")).to_have_value(re.compile("failed session"))
    expect(page.locator("textarea[name=source]")).not_to_have_value(re.compile("mara.holt"))


def test_batch_of_runs_is_ranked(shop: Site, visit: NewVisit):
    visitor = visit(shop, permissions=["clipboard-read", "clipboard-write"])
    page = visitor.go("/leaderboards")
    press(page, "j", "Enter")
    expect(page.locator("h1")).to_have_text("No proven difference between 2 runs.")
    rows = page.get_by_role("region", name="Ranking").locator("tbody tr")
    expect(rows.first).to_contain_text(re.compile(r"1 tie.*release=1\.4.*1\.00.*best"))
    expect(rows.last).to_contain_text(re.compile(r"1 tie.*release=1\.5.*\.50.*−\.50"))
    expect(page.get_by_role("region", name="Cases that separate")).to_contain_text("late_frost")
    press(page, "Shift+Y")
    expect(page.locator(".toast")).to_contain_text("carob leaderboard --batch releases")
    page = visitor.go("/runs?dataset=garden_shop&q=release")
    press(page, "j", "x", "j", "x")
    page.get_by_role("button", name="Rank selected").click()
    expect(page.locator("h1")).to_have_text("No proven difference between 2 runs.")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_home_datasets_metrics_and_settings_lead_on(scripts: bool, shop: Site, visit: NewVisit):
    visitor = visit(shop, java_script_enabled=scripts)
    page = visitor.go("/")
    newest = page.get_by_role("region", name="Newest runs")
    expect(newest.get_by_role("row", name=re.compile("catalogue"))).to_contain_text("2,142 / 2,500")
    page.get_by_role("link", name=re.compile(r"\d+ answers wait for review")).click()
    expect(page.get_by_role("region", name="Queues")).to_contain_text("tone")
    visitor.go("/datasets").get_by_role("link", name=SHOP, exact=True).click()
    expect(page.locator("h1")).to_have_text(SHOP)
    visitor.go("/metrics").get_by_role("link", name="rouge_l", exact=True).click()
    expect(page.locator("pre.copy")).to_contain_text("-m rouge_l")
    kind = "PostgreSQL" if shop.store.startswith("postgres") else "SQLite"
    expect(visitor.go("/settings").locator("main")).to_contain_text(kind)
