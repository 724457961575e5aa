"""A real browser. Every test also checks that pages make no foreign requests, log nothing, open no
dialogs and violate no content security policy."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.browser.workspace import Seeded, otlp_session, seed
from tests.postgres import server as postgres_server
from tests.server.conftest import Process, start_server

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_REFUSED = "Failed to load resource: the server responded with a status of"
"""What Chromium logs for every page with an error status."""
ARTIFACTS = Path(os.environ.get("CAROB_SCREENSHOTS", ".artifacts")) / "pages"
"""Where the screenshots of a test run stay."""

_PATIENCE = 15_000
"""Milliseconds that tests wait for what should happen at once: machines may be busy."""
expect.set_options(timeout=_PATIENCE)

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")  # Playwright blocks other event loops meanwhile
def browser() -> Generator[Browser]:
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    assert path, "no Chromium: run tests/browser/setup.sh"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_QUIET])
        yield browser
        browser.close()


class Watch:
    """Collects what no page may do."""

    def __init__(self, allowed: Callable[[str], bool]) -> None:
        self.wrong: list[str] = []
        self._allowed = allowed

    def follow(self, page: Page) -> None:
        def on_request(request: Request) -> None:
            if not self._allowed(request.url.partition("#")[0]):
                self.wrong.append(f"request: {request.url}")

        def on_message(message: ConsoleMessage) -> None:
            if not message.text.startswith(_REFUSED):
                self.wrong.append(f"console: {message.text}")

        def on_dialog(dialog: Dialog) -> None:
            self.wrong.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("request", on_request)
        page.on("console", on_message)
        page.on("dialog", on_dialog)
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Generator[OpenPage]:
    """Open a page from a file; requests and console messages fail the test at the end."""
    contexts: list[BrowserContext] = []
    watches: list[Watch] = []

    def show(text: str, anchor: str = "", **options: Any) -> Page:
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(text, "utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        watch = Watch(lambda url: url == path.as_uri())
        watches.append(watch)
        watch.follow(page)
        page.goto(f"{path.as_uri()}{anchor}")
        return page

    yield show
    for context in contexts:
        context.close()
    assert [entry for watch in watches for entry in watch.wrong] == []


class Site(NamedTuple):
    """A server with a full workspace."""

    process: Process
    seeded: Seeded
    folder: Path
    store: str

    @property
    def address(self) -> str:
        return self.process.addresses["pages"].rstrip("/")

    def send_session(self, *args: str, content: bool = True) -> None:
        """Export a session as an agent does."""
        body = otlp_session(*args, content=content)
        headers = {"content-type": "application/json"}
        assert self.process.receiver.ask("POST", "/v1/traces", body, headers).status == 200


def _serve(folder: Path, store: str) -> Iterator[Site]:
    (folder / ".carob").mkdir(parents=True)
    seeded = seed(folder, store)
    process = start_server(folder, "--store", store)
    site = Site(process, seeded, folder, store)
    site.send_session("talk-1", "When are you open?", "Monday to Friday only.")
    site.send_session("talk-2", "Send it to mara.holt@example.org please", "I will.")
    site.send_session("talk-3", "", "", content=False)
    yield site
    assert process.stop() == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server on SQLite."""
    folder = tmp_path_factory.mktemp("site")
    yield from _serve(folder, str(folder / ".carob" / "carob.db"))


@pytest.fixture(scope="module")
def postgres_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server on PostgreSQL."""
    with postgres_server() as url:
        yield from _serve(tmp_path_factory.mktemp("postgres-site"), url)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def shop(request: pytest.FixtureRequest) -> Site:
    """A server on either store, for the stories that write."""
    return request.getfixturevalue("site" if request.param == "sqlite" else "postgres_site")


def press(page: Page, *keys: str) -> None:
    """Press keys as soon as the scripts of the page listen."""
    expect(page.locator("html.scripted")).to_have_count(1)
    for key in keys:
        page.keyboard.press(key)


def current_row(page: Page) -> Locator:
    return page.locator(".current")


class Visit(NamedTuple):
    """A page of a site, in a browser of its own."""

    page: Page
    address: str

    def go(self, path: str) -> Page:
        """Open an address of the site."""
        self.page.goto(f"{self.address}{path}")
        return self.page


NewVisit = Callable[..., Visit]


@pytest.fixture
def visit(browser: Browser) -> Generator[NewVisit]:
    """Open a site; what pages may not do fails the test at the end."""
    contexts: list[BrowserContext] = []
    watches: list[Watch] = []

    def start(site: Site, **options: Any) -> Visit:
        settings: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, **options}
        context = browser.new_context(**settings)
        context.set_default_timeout(_PATIENCE)
        contexts.append(context)
        watch = Watch(lambda url: url.startswith((f"{site.address}/", "data:")))
        watches.append(watch)
        page = context.new_page()
        watch.follow(page)
        return Visit(page, site.address)

    yield start
    for context in contexts:
        context.close()
    assert [entry for watch in watches for entry in watch.wrong] == []
