"""Golden data in a browser: new cases, released versions, sessions that look like known cases, and
reviews of answers without golden data."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from carob.api.golden.drafts import delete_case, get_case, review_case
from carob.api.golden.folder import GoldenFolder
from carob.versions.review import review_status
from tests.browser.conftest import NewVisit, Site
from tests.browser.workspace import SHOP


@pytest.mark.parametrize("scripts", [True, False])
def test_new_case_is_written_in_a_form(scripts: bool, shop: Site, visit: NewVisit):
    id = f"gift_card_{scripts}"
    page = visit(shop, java_script_enabled=scripts).go(f"/datasets/{SHOP}/new")
    page.get_by_label("id, which no other case").fill(id)
    page.get_by_label("user says").fill("Do you sell gift cards?")
    page.get_by_label("agent should answer").fill("Yes, from 10 euros.")
    page.get_by_label("expected tool calls").fill('[{"name": "find_product"}]')
    page.get_by_label("tags").fill("gifts, new")
    page.get_by_role("button", name="Save the form to the draft").click()
    expect(page.get_by_role("status").filter(has_text=id)).to_contain_text("is in the draft")
    folder = GoldenFolder(shop.folder / "golden", shop.folder / "golden" / "registry")
    case = get_case(folder, SHOP, id).case
    (turn,) = case.turns
    assert (turn.user, turn.response) == ("Do you sell gift cards?", "Yes, from 10 euros.")
    assert [call.name for call in turn.tool_calls or ()] == ["find_product"]
    assert case.tags == ("gifts", "new")
    delete_case(folder, SHOP, id, revision=None)


def test_edit_script_is_one_click_away_from_the_top_of_a_case(site: Site, visit: NewVisit):
    visitor = visit(site)
    page = visitor.go(f"/runs/{site.seeded.bad}/cases/delivery_date?tab=scores&status=failed")
    page.get_by_role("link", name="Accept 2 changes…").click()
    expect(page.get_by_role("button", name="Accept checked as golden")).to_be_in_viewport()
    assert "status=failed" in page.url
    page = visitor.go(f"/runs/{site.seeded.good}/cases/delivery_date")
    expect(page.get_by_role("link", name="Accept")).to_have_count(0)


def test_new_case_does_not_replace_one_with_the_same_id(site: Site, visit: NewVisit):
    page = visit(site).go(f"/datasets/{SHOP}/new")
    page.get_by_label("id, which no other case").fill("return_pot")
    page.get_by_role("button", name="Save the form to the draft").click()
    expect(page.locator("h1")).to_have_text("Somebody else has changed this")


def test_released_case_can_be_read_and_not_changed(site: Site, visit: NewVisit):
    page = visit(site).go(f"/datasets/{SHOP}@1.0.0")
    expect(page.locator("main")).to_contain_text(re.compile(r"Released .* by Mara"))
    page.get_by_role("link", name="delivery_date").click()
    expect(page.locator("h1")).to_have_text("delivery_date")
    expect(page.locator("main")).to_contain_text("Your roses arrive on Thursday")
    expect(page.locator("main form")).to_have_count(0)
    page.get_by_role("link", name="the draft").click()
    expect(page.get_by_role("link", name="Edit")).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_selected_cases_are_approved_together(scripts: bool, shop: Site, visit: NewVisit):
    page = visit(shop, java_script_enabled=scripts).go(f"/datasets/{SHOP}")
    for name in ("hebrew", "japanese"):
        page.get_by_role("checkbox", name=f"select {name}").check()
    page.get_by_label("review status").select_option("approved" if scripts else "reviewed")
    page.get_by_label("by", exact=True).fill("Mara")
    page.get_by_role("button", name="Mark as").click()
    word = "approved" if scripts else "reviewed"
    for name in ("hebrew", "japanese"):
        expect(page.get_by_role("row").filter(has_text=name)).to_contain_text(word)
    expect(page.get_by_role("row").filter(has_text="opening_hours")).not_to_contain_text(word)


def test_cases_that_changed_after_they_were_read_are_not_approved(shop: Site, visit: NewVisit):
    page = visit(shop).go(f"/datasets/{SHOP}")
    page.get_by_role("checkbox", name="select hebrew").check()
    page.get_by_label("by", exact=True).fill("Mara")
    folder = GoldenFolder(shop.folder / "golden", shop.folder / "golden" / "registry")
    before = get_case(folder, SHOP, "japanese").case
    status = "reviewed" if review_status(before) == "draft" else "draft"
    review_case(folder, SHOP, "japanese", status, by="Noa")
    page.get_by_role("button", name="Mark as").click()
    expect(page.locator("h1")).to_have_text("Somebody else has changed this")


def test_no_case_is_approved_without_being_selected(site: Site, visit: NewVisit):
    page = visit(site).go(f"/datasets/{SHOP}")
    page.get_by_label("by", exact=True).fill("Mara")
    page.get_by_role("button", name="Mark as").click()
    expect(page.locator("main")).to_contain_text("No case is selected")


def test_session_like_a_known_case_is_pointed_out_before_it_becomes_golden(
    site: Site, visit: NewVisit
):
    page = visit(site).go("/live/talk-1/golden")
    expect(page.locator(".problems")).to_contain_text("opening_hours of garden_shop")
    page.get_by_role("link", name="Compare with it").click()
    expect(page.locator("ins")).to_have_text("Friday only")


def test_personal_data_is_marked_in_the_case_that_will_be_written(site: Site, visit: NewVisit):
    page = visit(site).go("/live/talk-2/golden")
    expect(page.locator("mark")).to_have_text("mara.holt@example.org")


def test_only_known_golden_cases_can_be_approved_in_review(site: Site, visit: NewVisit):
    visitor = visit(site)
    page = visitor.go(f"/review/{site.seeded.queue}?by=Mara")
    expect(page.get_by_role("button", name="Correct")).to_be_visible()
    expect(page.get_by_role("button", name="Approve golden")).to_have_count(0)


def test_review_of_tools_shows_the_calls_and_ends_when_nothing_waits(site: Site, visit: NewVisit):
    page = visit(site).go(f"/runs/{site.seeded.bad}?status=failed&metric=tool_trajectory_avg_score")
    page.get_by_role("checkbox", name="select late_frost").check()
    page.get_by_role("button", name="Review").click()
    expect(page.locator(".golden-edge .tool")).to_have_text("frost_dates")
    expect(page.get_by_role("button", name="Approve golden")).to_be_visible()
    status = page.get_by_role("status").filter(has_text="label")
    expect(status).not_to_contain_text("Nothing is waiting")
    page.get_by_label("your name").fill("Ida")
    page.get_by_role("button", name="Wrong").click()
    expect(status).to_contain_text("Nothing is waiting")


def test_metrics_are_searched_while_typing(site: Site, visit: NewVisit):
    page = visit(site).go("/metrics")
    page.get_by_label("text in names").fill("trajectory")
    expect(page.get_by_role("link", name="tool_trajectory_avg_score")).to_be_visible()
    expect(page.get_by_role("link", name="rouge_l")).to_have_count(0)
    assert "q=trajectory" in page.url


def test_compared_runs_are_swapped_and_replaced(site: Site, visit: NewVisit):
    good, bad = site.seeded.good, site.seeded.bad
    page = visit(site).go(f"/compare?base={good}&run={bad}")
    expect(page.get_by_role("link", name="▼ broke 4")).to_be_visible()
    page.get_by_role("link", name="Swap").click()
    expect(page.get_by_role("link", name="▲ fixed 4")).to_be_visible()
    page.get_by_role("link", name="Other runs").click()
    expect(page.locator("select[name=run]")).to_have_value(good)


def test_base_that_is_proposed_is_the_last_passed_run_of_the_dataset(site: Site, visit: NewVisit):
    page = visit(site).go(f"/compare?run={site.seeded.bad}")
    expect(page.locator("select[name=base]")).to_have_value(site.seeded.good)
    options = page.locator("select[name=base] option").evaluate_all(
        "options => options.map((option) => option.value)"
    )
    assert len(options) == len(set(options))


def test_keys_at_the_bottom_do_not_cover_the_buttons_of_a_review(site: Site, visit: NewVisit):
    visitor = visit(site, viewport={"width": 1280, "height": 320})
    button = visitor.go(f"/review/{site.seeded.queue}?by=Mara").get_by_role("button", name="Wrong")
    is_on_top = """(button) => {
        const box = button.getBoundingClientRect();
        const place = [box.left + box.width / 2, box.top + box.height / 2];
        return button.contains(document.elementFromPoint(...place));
    }"""
    assert button.evaluate(is_on_top)
