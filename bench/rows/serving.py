"""`carob serve` under load, beside the receiver of agentevals on the same requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.receivers import (
    SPANS_PER_REQUEST,
    Receiver,
    agentevals_server,
    carob_server,
    requests,
    send,
)
from bench.row import Number, Row, at_most, faster

_REQUESTS = 96
"""As many sessions: agentevals refuses the hundredth."""
_WARM_UP = 2
"""Sessions that both receivers get first: what they load once in their lives is not counted."""
_LOAD = 1_000
_REPEATS = 5
_SOAK = (300, 1_500)
_IDLE_BUDGET = 60
_GET_BUDGET = 100

Starter = Callable[[Path], AbstractContextManager[Receiver]]


def measure() -> Iterator[Row]:
    """CPU time until everything is settled, memory over time, and answers under load. CPU time is
    that of a server that has received something before."""
    # In turns, so that a slow minute of the machine hits all of them.
    rounds = [
        (
            _cpu_per_thousand_spans(agentevals_server),
            _cpu_per_thousand_spans(carob_server),
            _cpu_per_thousand_spans(carob_server, read=True),
        )
        for _ in range(_REPEATS)
    ]
    theirs, stored, read = map(min, zip(*rounds, strict=True))
    other = Number(name="agentevals 0.11, in memory only", value=theirs, unit="ms")
    yield faster(
        "Receiving 1,000 spans over OTLP/HTTP, CPU time until settled",
        Number(name="`carob serve`, on disk and indexed", value=stored, unit="ms"),
        other,
        target=10,
    )
    yield faster(
        "Receiving 1,000 spans and reading each session into a trace, CPU time",
        Number(name="`carob serve`, on disk, indexed, every session read", value=read, unit="ms"),
        other,
        target=5,
    )
    with TemporaryDirectory() as folder, carob_server(Path(folder)) as receiver:
        receiver.settle()
        idle = receiver.resident_mb()
        yield at_most(
            "Memory of an idle server",
            Number(name="`carob serve` with gRPC", value=idle, unit="MB"),
            Number(name="budget", value=_IDLE_BUDGET, unit="MB"),
            target=1,
        )
        yield _soak(receiver)
        yield _answers_under_load(receiver)


def _cpu_per_thousand_spans(start: Starter, *, read: bool = False) -> float:
    bodies = requests(_REQUESTS)
    with TemporaryDirectory() as folder, start(Path(folder)) as receiver:
        send(receiver, requests(_WARM_UP, _REQUESTS))
        receiver.settle()
        if read:
            receiver.read_sessions()
            receiver.settle()
        before = receiver.cpu_seconds()
        send(receiver, bodies)
        if read:
            receiver.settle()
            receiver.read_sessions()
        receiver.settle()
        spent = receiver.cpu_seconds() - before
    return spent * 1000 / (_REQUESTS * SPANS_PER_REQUEST / 1000)


def _soak(receiver: Receiver) -> Row:
    sizes: list[float] = []
    sent = 0
    for total in _SOAK:
        while sent < total:
            number = min(100, total - sent)
            send(receiver, requests(number, sent))
            sent += number
        receiver.settle()
        sizes.append(receiver.resident_mb())
    spans = [f"{total * SPANS_PER_REQUEST:,}" for total in _SOAK]
    return at_most(
        "Memory of a receiving server over time",
        Number(name=f"after {spans[1]} spans", value=sizes[1], unit="MB"),
        Number(name=f"after {spans[0]} spans", value=sizes[0], unit="MB"),
        target=1.2,
    )


def _answers_under_load(receiver: Receiver) -> Row:
    """Ask for the list of runs while spans come in."""
    times: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            start = time.perf_counter()
            receiver.get("/api/runs")
            times.append(time.perf_counter() - start)
            time.sleep(0.005)

    thread = threading.Thread(target=ask)
    thread.start()
    send(receiver, requests(_LOAD, _SOAK[-1]))
    done.set()
    thread.join()
    slowest = sorted(times)[int(len(times) * 0.99)]
    return at_most(
        f"GET /api/runs while spans come in, 99th percentile of {len(times):,}",
        Number(name="`carob serve`", value=slowest * 1000, unit="ms"),
        Number(name="budget", value=_GET_BUDGET, unit="ms"),
        target=1,
    )
