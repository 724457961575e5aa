"""Text that agents, users and tools control, through every field and on every page. Whatever it
tries, nothing runs, nothing is loaded, no policy is violated, and the text itself is shown."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Sequence
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from carob.api.datasets import save
from carob.api.review import create_queue, label_item
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.api.store import save_run
from carob.schema import Case, Dataset, Run, ToolCall, ToolResult, Trace, Turn
from carob.schema.trace import AgentMessage, Span
from tests.browser.conftest import NewVisit, Site
from tests.browser.test_report import NASTY
from tests.browser.workspace import METRICS, Seeded, judged_run, otlp_session
from tests.server.conftest import Process, start_server

_ID = "<img src=x onerror=alert('id')>\"'&"
_NAME = "<script>alert('name')</script>"
_FORBIDDEN = (
    "main img, iframe, object, embed, base, main script, main style, main [onerror], [onload]"
)


_REFUSALS = ("There is nothing here", "This address does not work")


def nasty_case(number: int, text: str) -> Case:
    calls = (ToolCall(name=text[:60] or "tool", args={text[:60]: text}, id="1", reason=text),)
    turn = Turn(user=text, response=f"expected {text}", tool_calls=calls)
    return Case(
        id=f"{_ID} {number}",
        turns=(turn,),
        tags=(text,),
        context=text,
        metadata={"session_id": text, text[:60]: text},
    )


def nasty_trace(case: Case) -> Trace:
    (turn,) = case.turns
    text = turn.user or ""
    calls = (
        ToolCall(name=f"wrong {text}", args={"x": text}, id="2", agent=text, start=0, end=10**8),
        ToolCall(name=f"broken {text}", args={"x": text * 900}, id="3"),
    )
    actual = Turn(
        user=text,
        response=f"actual {text}",
        tool_calls=calls,
        tool_results=(
            ToolResult(name=text, id="2", result={"x": text}),
            ToolResult(name=text, id="3", error=text),
        ),
        agents=(text, "other"),
        messages=(AgentMessage(agent=text, text=text),),
    )
    span = Span(trace_id=case.id, span_id="1", name=turn.user or "", attributes={"x": turn.user})
    return Trace(id=f"trace {case.id}", turns=(actual,), case=case.id, spans=(span,))


def make_run(golden: Dataset, traces: Sequence[Trace], store: str, **labels: str) -> Run:
    request = RunRequest(
        recorded=traces,
        golden=golden,
        metrics=METRICS,
        config=NO_CONFIG,
        store=store,
        labels=labels,
        keep_traces=True,
        by=("tag",),
    )
    return evaluate(request).run


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server whose every field holds hostile text."""
    folder = tmp_path_factory.mktemp("hostile")
    store = str(folder / "carob.db")
    cases = [nasty_case(number, text) for number, text in enumerate(NASTY)]
    golden = Dataset(name=_NAME, cases=cases, description=_NAME, tags=(_NAME,))
    (folder / "golden").mkdir()
    save(golden, folder / "golden" / "nasty.json", format="questions")
    good = [Trace(id=f"good {c.id}", turns=c.turns, case=c.id) for c in cases]
    first = make_run(golden, good, store, note=_NAME, batch=_NAME)
    second = make_run(
        golden, [nasty_trace(case) for case in cases], store, note=NASTY[2], batch=_NAME
    )
    judged = judged_run()
    save_run(judged, store=store)
    queue = create_queue(second.id, METRICS[1], store=store)
    label_item(queue.id, 0, "failed", by=_NAME, note=NASTY[1], store=store)
    process = start_server(folder, "--store", store)
    for text in NASTY[:6]:
        body = json.loads(otlp_session(text, text, text))
        send(process, body)
    yield Site(process, Seeded(first.id, second.id, "", judged.id, queue.id), folder, store)
    assert process.stop() == 0


def send(process: Process, body: object) -> None:
    headers = {"content-type": "application/json"}
    data = json.dumps(body).encode()
    assert process.receiver.ask("POST", "/v1/traces", data, headers).status == 200


def check(page: Page) -> None:
    expect(page.locator("h1")).to_have_count(1)
    expect(page.locator(_FORBIDDEN)).to_have_count(0)
    page.mouse.move(300, 300)
    page.keyboard.press("Tab")


def hostile_pages(site: Site) -> list[str]:
    run, shop = site.seeded.bad, f"/datasets/{quote(_NAME, safe='')}"
    case = quote(f"{_ID} 3", safe="")
    session = quote(NASTY[2], safe="")
    term = quote(_NAME, safe="")
    return [
        "/",
        "/runs",
        f"/runs?q={term}&label={term}&dataset={term}",
        f"/runs/{run}?by=tag",
        f"/runs/{run}?q={term}&cause=low%20score:{term}",
        *(f"/runs/{run}/cases/{case}?tab={tab}" for tab in ("spans", "scores", "golden", "raw")),
        f"/compare?base={site.seeded.good}&run={run}",
        f"/compare?base={term}&run={term}",
        f"/compare?run={term}",
        f"/metrics?q={term}",
        f"/runs/{run}/regression?case={case}",
        f"/runs/{run}/regression?case={term}&dataset={term}",
        f"/runs/{run}/regressions?places=0,1,2,3",
        f"/runs/{run}/regressions?places={term}",
        f"/runs/{run}/regressions?places=0&dataset={term}",
        f"/review/{site.seeded.queue}?by={term}&only=0,1",
        f"/review/{site.seeded.queue}?only={term}",
        "/leaderboards",
        f"/leaderboards/{term}?metric={METRICS[1]}",
        f"/leaderboards?pick={run}&pick={term}",
        f"/leaderboards?pick={site.seeded.good}&pick={run}",
        "/datasets",
        shop,
        f"{shop}?q={term}&tag={term}&accepted={term}",
        f"{shop}/findings",
        f"{shop}/cases/{case}",
        f"{shop}/cases/{case}/edit",
        f"{shop}/cases/{term}",
        "/review",
        f"/review/{site.seeded.queue}?by={term}&item=0",
        f"/review/{term}",
        "/live",
        f"/live?q={term}",
        f"/live/{session}",
        f"/live/{session}/golden",
        f"/live/{session}/compare",
        f"/live/{session}/discard",
        f"/live/{session}/regression",
        f"/metrics/{term}",
        f"/upload?traces={term}",
        f"/jobs/{term}",
        f"/{term}",
        f"/runs/{run}?status={term}",
    ]


def test_every_page_shows_hostile_text_and_runs_none_of_it(hostile: Site, visit: NewVisit):
    visitor = visit(hostile)
    shop = quote(_NAME, safe="")
    missing = (f"/runs/{shop}", f"/review/{shop}", f"/cases/{shop}", f"={shop}", f"/{shop}")
    for path in hostile_pages(hostile):
        page = visitor.go(path)
        check(page)
        if not path.endswith(missing):
            assert page.locator("h1").inner_text() not in _REFUSALS, path
        command = page.locator("body").get_attribute("data-command")
        if command:  # people paste it into a shell
            program, *arguments = shlex.split(command)
            assert (program, shlex.join([program, *arguments])) == ("carob", command), path


def test_copied_command_of_hostile_names_is_quoted(hostile: Site, visit: NewVisit):
    page = visit(hostile, permissions=["clipboard-read", "clipboard-write"]).go(
        f"/runs/{hostile.seeded.bad}"
    )
    boxes = page.locator("tbody input[type=checkbox]")
    names = [box.get_attribute("aria-label") or "" for box in boxes.all()]
    page.get_by_label("select all").check()
    page.get_by_role("button", name="Copy command").click()
    expect(page.locator(".toast")).to_contain_text("command copied")
    arguments = shlex.split(page.evaluate("navigator.clipboard.readText()"))
    start = arguments.index("--case")
    assert arguments[start::2] == ["--case"] * len(names)
    assert arguments[start + 1 :: 2] == [name.removeprefix("select ") for name in names]
    check(page)


@pytest.mark.parametrize("number", range(len(NASTY)))
def test_case_page_is_inert(number: int, hostile: Site, visit: NewVisit):
    case = quote(f"{_ID} {number}", safe="")
    page = visit(hostile).go(f"/runs/{hostile.seeded.bad}/cases/{case}")
    check(page)
    shown = page.locator(".user .text").first.inner_text()
    letters = [letter for letter in NASTY[number] if letter.isalnum() and letter.isascii()]
    assert [letter for letter in shown if letter.isalnum() and letter.isascii()][: len(letters)]
    expect(page.locator(".script")).to_be_visible()


def test_scripts_put_hostile_answers_into_the_page_as_text(hostile: Site, visit: NewVisit):
    page = visit(hostile).go(f"/runs/{hostile.seeded.bad}")
    page.get_by_role("searchbox").fill("alert")
    expect(page.locator("table.cases tbody tr").first).to_contain_text("<img")
    page.get_by_role("searchbox").fill(_NAME)
    expect(page).to_have_url(re.compile("script"))
    check(page)


def test_fields_that_are_posted_come_back_as_text(hostile: Site, visit: NewVisit):
    shop = quote(_NAME, safe="")
    page = visit(hostile).go(f"/datasets/{shop}/new")
    page.locator("textarea[name=source]").fill('{"id": "<img src=x onerror=alert(1)>", "x": 1')
    page.get_by_role("button", name="Save the source to the draft").click()
    expect(page.locator("#problems")).to_contain_text("the text ends too early")
    check(page)
    page.goto(f"{hostile.address}/review/{hostile.seeded.queue}?by=%3Cb%3E&item=1")
    page.locator("input[name=note]").fill("<img src=x onerror=alert('note')>")
    page.get_by_role("button", name="wrong").click()
    expect(page.locator("input[name=note]")).to_have_value("<img src=x onerror=alert('note')>")
    check(page)
