"""The pages of `carob serve` at 1,000 runs and 100,000 cases: time, size, filters in Chromium."""

from __future__ import annotations

import shutil
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

from bench.outcomes import fill
from bench.row import Number, Row, at_most
from carob.api.store import save_run
from tests.browser.workspace import large_run
from tests.server.conftest import Client, Process, start_server

_REPEATS = 15
_LARGE = "run-00000000000large"
_PAGES: Mapping[str, str] = {
    "home": "/",
    "list of runs": "/runs",
    "run": f"/runs/{_LARGE}",
    "case": f"/runs/{_LARGE}/cases/plant_00007",
    "datasets": "/datasets",
    "live sessions": "/live",
}
_FILTER = """(value) => new Promise((done) => {
  const form = document.querySelector('form[data-region]');
  form.elements.status.value = value;
  const start = performance.now();
  document.addEventListener('carob:replaced', () => {
    document.body.offsetHeight;  // laid out, not only replaced
    done(performance.now() - start);
  }, { once: true });
  form.requestSubmit();
})"""


def measure() -> Iterator[Row]:
    """Every page against its budget and against a small store, then a filter in a browser."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        # As many as fill the first page of each list, so that both answers have the same rows.
        with _serving(folder / "small", runs=120, cases=2_000) as server:
            server.client.get(_PAGES["run"])
            small = {page: _answer(server.client, path) for page, path in _PAGES.items()}
        with _serving(folder / "large", runs=999, cases=100_000) as server:
            yield _first_look(server.client)
            for page, path in _PAGES.items():
                yield from _page_rows(page, _answer(server.client, path), small[page])
        with _serving(folder / "filter", runs=10, cases=10_000) as server:
            yield _filter_row(server)


@contextmanager
def _serving(folder: Path, *, runs: int, cases: int) -> Generator[Process]:
    folder.mkdir()
    store = str(folder / "carob.db")
    fill(store, runs)
    save_run(large_run(cases), store=store)
    process = start_server(folder, "--store", store)
    try:
        yield process
    finally:
        process.stop()


def _first_look(client: Client) -> Row:
    """Nobody has looked at the run before: its index is built for this page."""
    start = time.perf_counter()
    assert client.get(_PAGES["run"]).status == 200  # noqa: S101 - an error page would be fast
    taken = time.perf_counter() - start
    return at_most(
        "Opening the page of a run of 100,000 cases for the first time",
        Number(name="`carob serve`", value=taken, unit="s"),
        Number(name="budget", value=1, unit="s"),
        target=1,
    )


def _answer(client: Client, path: str) -> tuple[float, float]:
    """The best time in milliseconds, and the size in kB."""
    times: list[float] = []
    size = 0
    for _ in range(_REPEATS):
        start = time.perf_counter()
        answer = client.get(path)
        times.append(time.perf_counter() - start)
        assert answer.status == 200, path  # noqa: S101 - an error page would be fast
        size = len(answer.body)
    return 1000 * min(times), size / 1000


def _page_rows(name: str, large: tuple[float, float], small: tuple[float, float]) -> Iterator[Row]:
    title = f"Page `{name}` at 1,000 runs and 100,000 cases"
    ours = Number(name="`carob serve`", value=large[0], unit="ms")
    yield at_most(f"{title}: time", ours, Number(name="budget", value=100, unit="ms"), target=1)
    few = Number(name="with 120 runs and 2,000 cases", value=small[0], unit="ms")
    yield at_most(f"{title}, against a small store", ours, few, target=2)
    yield at_most(
        f"{title}: size",
        Number(name="HTML", value=large[1], unit="kB"),
        Number(name="budget", value=100, unit="kB"),
        target=1,
    )


def _filter_row(server: Process) -> Row:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(f"{server.addresses['pages'].rstrip('/')}{_PAGES['run']}")
        page.wait_for_selector("html.scripted")
        values = ("failed", "passed") * 6
        times = [float(page.evaluate(_FILTER, value)) for value in values]
        browser.close()
    return at_most(
        "Filtering 10,000 cases of a run in Chromium, until laid out",
        Number(name="`carob serve` and browser", value=min(times), unit="ms"),
        Number(name="budget", value=50, unit="ms"),
        target=1,
    )
