"""Time to save runs, list the first page of the history, and compare stored runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import OURS, Command, reported
from bench.outcomes import fill, keep_pairs
from bench.row import Number, Row, at_most, faster
from tests.postgres import server


def measure() -> Iterator[Row]:
    """SQLite and PostgreSQL, each compared with bare inserts of the same rows."""
    with TemporaryDirectory() as folder:
        yield _storing("SQLite", f"{folder}/store.db", "executemany")
        yield _paging(Path(folder))
        yield _comparing(f"{folder}/compared.db")
    with server(durable=True) as url:
        yield _storing("PostgreSQL", url, "copy")


def _storing(kind: str, place: str, bare: str) -> Row:
    commands = {"store": _program("store", place), "bare": _program(bare, place)}
    best = reported(commands, repeats=3)
    return faster(
        f"Storing 1,000,000 outcomes of 200,000 cases in {kind}",
        Number(name="`carob.store`", value=best["store"], unit="s"),
        Number(name=f"a bare `{bare}` of the same rows", value=best["bare"], unit="s"),
        target=0.5,
    )


def _paging(folder: Path) -> Row:
    places = {runs: str(folder / f"{runs}.db") for runs in (10, 10_000)}
    for runs, place in places.items():
        fill(place, runs)
    best = reported(
        {str(runs): _program("page", place) for runs, place in places.items()}, repeats=5
    )
    return at_most(
        "The first page of the history",
        Number(name="with 10,000 runs", value=best["10000"] * 1000, unit="ms"),
        Number(name="with 10 runs", value=best["10"] * 1000, unit="ms"),
        target=1.3,
    )


def _comparing(place: str) -> Row:
    """As in `carob compare A B`: both runs are found in the store by name."""
    keep_pairs(place, (100, 100_000))
    best = reported(
        {name: _program(name, place) for name in ("compare_stored", "read_stored")}, repeats=3
    )
    return at_most(
        "Comparing two runs of 100,000 cases and 5 metrics in SQLite, statistics included",
        Number(name="`carob.compare`", value=best["compare_stored"], unit="s"),
        Number(name="reading both from the store", value=best["read_stored"], unit="s"),
        target=4,
    )


def _program(name: str, place: str) -> Command:
    return [OURS, "-m", "bench.outcomes", name, place]
