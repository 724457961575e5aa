"""A real browser. Every test also checks that the page makes no requests and logs no errors."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Request, sync_playwright

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

OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")  # Playwright blocks other event loops meanwhile
def browser() -> Generator[Browser]:
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    assert path, "no Chromium: run tests/browser/setup.sh"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*_QUIET])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Generator[OpenPage]:
    """Open a page from a file; requests and console messages fail the test at the end."""
    wrong: list[str] = []
    contexts = [browser.new_context()]

    def watch(page: Page, address: str) -> None:
        def on_request(request: Request) -> None:
            if request.url.partition("#")[0] != address:
                wrong.append(f"request: {request.url}")

        def on_message(message: ConsoleMessage) -> None:
            wrong.append(f"console: {message.text}")

        def on_dialog(dialog: Dialog) -> None:
            wrong.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("request", on_request)
        page.on("console", on_message)
        page.on("dialog", on_dialog)
        page.on("pageerror", lambda error: wrong.append(f"error: {error}"))

    def show(text: str, anchor: str = "", **options: Any) -> Page:
        path = tmp_path / f"page-{len(contexts)}.html"
        path.write_text(text, "utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        watch(page, path.as_uri())
        page.goto(f"{path.as_uri()}{anchor}")
        return page

    yield show
    for context in contexts:
        context.close()
    assert wrong == []
