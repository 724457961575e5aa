"""Live agents that send spans while the server is killed, or while its disk is full.

Spans that were acknowledged must be there afterwards, also if hostile requests came in between.
"""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from importlib import resources
from pathlib import Path
from random import Random

from carob.api.serving.ingest import Ingest
from carob.api.serving.sessions import open_session
from carob.store.inbox import list_sessions, open_inbox
from tests.torture.faults import build_library
from tests.torture.mutate import mutate
from tests.torture.scenarios import CAROB
from tests.torture.tally import Finding, Tally

_SENDERS = 3
_READY_SECONDS = 30.0
_STOP_SECONDS = 20.0
_INDEX_SECONDS = 30.0
_EXPECTED = frozenset((200, 400, 413, 415, 503))
"""Accepted, the sender's fault, or to be sent again; never an internal error."""


def receive(
    seconds: float, *, seed: int = 0, postgres: str | None = None, attempts: int | None = None
) -> Tally:
    """Kill servers and fill their disks for some time, while agents send spans."""
    random = Random(seed)  # noqa: S311 - a repeatable campaign
    tally = Tally("servers")
    end = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="carob-receive-") as name:
        folder = Path(name)
        library = build_library(folder)
        stores = [
            _Inbox(folder, str(folder / "s.db")),
            *([_Inbox(folder, postgres)] if postgres else []),
        ]
        number = 0
        while time.monotonic() < end and (attempts is None or number < attempts):
            number += 1
            if number % 3 == 0:
                own = folder / f"full{number}"
                own.mkdir()
                _fill_disk(own, library, number, random, tally)
            else:
                _kill(stores[number % len(stores)], number, random, tally)
    return tally


class _Inbox:
    """A store that outlives its servers, and the sessions that they acknowledged."""

    def __init__(self, folder: Path, store: str) -> None:
        self.folder, self.store = folder, store
        self.acknowledged: set[str] = set()

    def missing(self) -> Iterator[str]:
        """Yield what was acknowledged and is not there, or cannot be opened."""
        with Ingest(self.store) as ingest:
            end = time.monotonic() + _INDEX_SECONDS
            while ingest.behind() and time.monotonic() < end:
                time.sleep(0.02)
        with open_inbox(self.store) as database:
            spans = {row.id: row.spans for row in list_sessions(database, limit=1_000_000)}
        for session in sorted(self.acknowledged - spans.keys()):
            yield f"session {session} was acknowledged, and is not there"
        present = sorted(self.acknowledged & spans.keys())
        for session in present:
            if spans[session] != _SPANS:
                yield f"session {session} has {spans[session]} of {_SPANS} spans"
        if present and open_session(self.store, present[-1]).trace is None:
            yield f"session {present[-1]} has no trace"


class _Server:
    """A server process of its own group, and what it has printed so far."""

    def __init__(self, folder: Path, store: str, env: Mapping[str, str] | None = None) -> None:
        ports = ("--port", "0", "--otlp-port", "0", "--grpc-port", "0")
        self.process = subprocess.Popen(
            [CAROB, "serve", *ports, "--store", store],
            cwd=folder,
            env={**os.environ, **(env or {})},
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self.host = ""
        self.ready = threading.Event()
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self._lines.append(line)
            if line.startswith("otlp "):
                self.host = line.split()[1].removeprefix("http://")
            if line == "ready\n":
                self.ready.set()
        self.ready.set()  # it has ended

    @property
    def output(self) -> str:
        return "".join(self._lines)

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        if self.process.stderr:
            self.process.stderr.close()

    def stop(self) -> Iterator[str]:
        """Ask it to stop. Yields what is wrong with how it ends."""
        self.process.terminate()
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            yield "the server does not stop"
        self.kill()
        if "Traceback" in self.output:
            yield f"traceback: {self.output[-1500:]}"


class _Sender(threading.Thread):
    """An agent that sends one session after the other, and now and then something hostile."""

    def __init__(self, server: _Server, name: str, seed: int, acknowledged: set[str]) -> None:
        super().__init__(daemon=True)
        self._server, self._prefix, self._acknowledged = server, name, acknowledged
        self._random = Random(seed)  # noqa: S311 - a repeatable campaign
        self.problems: list[str] = []
        self.statuses: list[int] = []

    def run(self) -> None:
        self._server.ready.wait(_READY_SECONDS)
        number = 0
        while self._server.host and self._server.process.poll() is None:
            number += 1
            if not self.send(f"{self._prefix}-{number}"):
                return

    def send(self, session: str) -> bool:
        """Send a session. Returns whether there was an answer."""
        body = _payload(session)
        if self._random.random() < 0.3:
            # Of a trace of its own: one trace cannot be in two sessions.
            hostile = mutate(_payload(f"hostile-{session}"), _TEMPLATE, self._random)
            if self._post(hostile, {}) is None:
                return False
        packing = self._random.choice((0, 1, 2))
        headers = {"Content-Encoding": "gzip"} if packing else {}
        status = self._post(_pack(body, packing), headers)
        if status == 200:
            self._acknowledged.add(session)
        elif status not in (None, 503):
            self.problems.append(f"a valid request was answered with {status}")
        return status is not None

    def _post(self, body: bytes, headers: Mapping[str, str]) -> int | None:
        connection = http.client.HTTPConnection(self._server.host, timeout=20)
        try:
            kind = {"Content-Type": "application/json", **headers}
            connection.request("POST", "/v1/traces", body, kind)
            status = connection.getresponse().status
        except TimeoutError:
            self.problems.append("no answer within 20 s")
            return None
        except (OSError, http.client.HTTPException):
            return None  # killed
        finally:
            connection.close()
        self.statuses.append(status)
        if status not in _EXPECTED:
            self.problems.append(f"a request was answered with {status}: {body[:300]!r}")
        return status


def _pack(body: bytes, members: int) -> bytes:
    """The body as it is, or as gzip with one or two members."""
    if not members:
        return body
    middle = len(body) // members
    return b"".join(gzip.compress(part, 1) for part in (body[:middle], body[middle:]) if part)


def _read_template() -> bytes:
    data = resources.files("carob") / "demo" / "data" / "traces" / "good.otlp.jsonl"
    return data.read_bytes().splitlines()[0]


_TEMPLATE = _read_template()


def _payload(session: str) -> bytes:
    """A trace that names its session."""
    document = json.loads(_TEMPLATE)
    name = {"key": "carob.session.name", "value": {"stringValue": session}}
    trace_id = sha256(session.encode()).hexdigest()[:32]
    for resource in document["resourceSpans"]:
        resource.setdefault("resource", {}).setdefault("attributes", []).append(name)
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                span["traceId"] = trace_id
    return json.dumps(document).encode()


_SPANS = _TEMPLATE.count(b'"spanId"')


def _kill(inbox: _Inbox, number: int, random: Random, tally: Tally) -> None:
    server = _Server(inbox.folder, inbox.store)
    senders = [
        _Sender(server, f"{number}-{sender}", random.randrange(2**32), inbox.acknowledged)
        for sender in range(_SENDERS)
    ]
    for sender in senders:
        sender.start()
    if random.random() < 0.8:  # else it is killed while it starts
        server.ready.wait(_READY_SECONDS)
    time.sleep(random.uniform(0, 1.0))
    server.kill()
    for sender in senders:
        sender.join(_READY_SECONDS)
    kind = "PostgreSQL" if "://" in inbox.store else "SQLite"
    tally.count(f"killed, {kind}")
    problems = [problem for sender in senders for problem in sender.problems]
    if "Traceback" in server.output:
        problems.append(f"traceback: {server.output[-1500:]}")
    _report(f"serve killed, {kind}", [*problems, *inbox.missing()], tally)


def _fill_disk(folder: Path, library: Path, number: int, random: Random, tally: Tally) -> None:
    inbox, mark = _Inbox(folder, str(folder / "s.db")), folder.parent / f"mark{number}"
    mode, at = random.choice(("full", "once", "partial")), random.randint(1, 150)
    env = {
        "LD_PRELOAD": str(library),
        "TORTURE_ROOT": str(folder),
        "TORTURE_MODE": mode,
        "TORTURE_AT": str(at),
        "TORTURE_MARK": str(mark),
    }
    server = _Server(folder, inbox.store, env)
    server.ready.wait(_READY_SECONDS)
    sender = _Sender(server, str(number), random.randrange(2**32), inbox.acknowledged)
    end = time.monotonic() + 6
    sent = 0
    while server.host and time.monotonic() < end and not (mark.exists() and sent > 20):
        sent += 1
        if not sender.send(f"{number}-{sent}"):
            break
    problems = [*sender.problems]
    if mode == "once" and mark.exists() and server.host:
        problems += _check_recovery(sender, number)
    problems += server.stop()
    if server.process.returncode not in (0, 2):
        problems.append(f"ended with {server.process.returncode}: {server.output[-500:]}")
    tally.count(f"{mode} disk" if mark.exists() else "ended before the fault")
    if (folder / "s.inbox.db").exists():
        problems += inbox.missing()
    _report(f"serve, {mode} at {at}", problems, tally)


def _check_recovery(sender: _Sender, number: int) -> Iterator[str]:
    """After a disk that was full for a moment, spans are accepted again."""
    for attempt in range(20):
        sender.send(f"{number}-again-{attempt}")
        if sender.statuses[-1:] == [200]:
            return
        time.sleep(0.3)
    yield f"does not recover from a full disk: {sender.statuses[-20:]}"


def _report(where: str, problems: list[str], tally: Tally) -> None:
    for problem in problems:
        tally.findings.append(Finding(f"{where}: {problem[:150]}", f"{where}: {problem}"))
