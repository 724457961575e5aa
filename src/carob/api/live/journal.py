"""Finished attempts of a live run: on disk before they count, and in order for scoring."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b

import msgspec

from carob.api.running.unfinished import StoredBatches
from carob.errors import CarobError
from carob.files.spool import Spool
from carob.runner.job import Batch
from carob.schema import Failed, Problem, Trace, Turn
from carob.schema.codec import JsonCodec
from carob.schema.problem import ProblemListener

_TRACES_PER_BATCH = 200
_PATIENCE = 2.0
"""Seconds before the attempts of a run without a store are written to a file of their own: a
function that is tried out leaves nothing behind."""
_IN_MEMORY = 1000
_DIGEST = 16


class AttemptJournal:
    """The finished attempts of one live run, by number. They outlive the process."""

    def __init__(
        self, stored: StoredBatches, *, resume: bool, patient: bool, report: ProblemListener
    ) -> None:
        self._stored, self._report = stored, report
        self._codec = JsonCodec(Trace)
        self._spool: Spool[Trace] = Spool(self._codec, _IN_MEMORY)
        # A few bytes for each attempt: a night's run has very many.
        self._numbers = array("Q")
        self._digests = bytearray()
        self._pending: dict[int, bytes] = {}
        self._lock: asyncio.Lock | None = None
        self._known = resume
        self._write_after = time.monotonic() + (_PATIENCE if patient else 0.0)
        self._broken = False
        self.failed = 0
        """Attempts whose conversation broke off."""
        for number, body in stored.load() if resume else ():
            self._keep(number, body)

    @property
    def done(self) -> frozenset[int]:
        """The numbers of the finished attempts."""
        return frozenset(self._numbers)

    @property
    def count(self) -> int:
        """How many attempts are finished."""
        return len(self._numbers)

    async def save(self, number: int, trace: Trace) -> Trace:
        """Save an attempt, and return it as it is saved. When this returns, the end of the process
        does not lose it."""
        trace, body = self._encode(trace)
        self._keep(number, body)
        self._pending[number] = body
        if time.monotonic() < self._write_after:
            return trace
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            # Whoever gets the lock writes for all who wait: a transaction waits for the disk.
            if number in self._pending:
                batch, self._pending = self._pending, {}
                await asyncio.to_thread(self._write, batch)
        return trace

    def _encode(self, trace: Trace) -> tuple[Trace, bytes]:
        """Encode an attempt. What cannot be written, such as an object of the agent's own or half
        of a character, breaks off this conversation and no other one."""
        try:
            return trace, self._codec.encode(trace)
        except Exception as error:  # noqa: BLE001 - values of the agent fail in many ways
            message = f"the answer cannot be recorded: {type(error).__name__}: {error}"
            users = (turn.user for turn in trace.turns)
            broken = Trace(
                id=trace.id,
                case=trace.case,
                turns=tuple(Turn(user=user) for user in users if user and _is_text(user)),
                mapper=trace.mapper,
                failure=Failed(kind="agent", message=message),
            )
            return broken, self._codec.encode(broken)

    def flush(self) -> bool:
        """Write what is pending, and return whether everything is saved."""
        batch, self._pending = self._pending, {}
        if batch:
            self._write(batch)
        return bool(self._numbers) and not self._broken

    def discard(self) -> None:
        """Forget the attempts: the run is saved with its traces."""
        self._stored.remove()
        self._stored.close()

    def _keep(self, number: int, body: bytes) -> None:
        self._spool.append_encoded(body)
        self._numbers.append(number)
        self._digests += blake2b(body, digest_size=_DIGEST).digest()
        self.failed += self._codec.decode(body).failure is not None

    def _write(self, batch: Mapping[int, bytes]) -> None:
        try:
            self._stored.save(batch, restart=not self._known)
            self._known = True
        except CarobError as error:
            if not self._broken:
                message = f"finished attempts cannot be saved: {error.message}"
                where = error.where or "the store"
                self._report(Problem(where=where, message=message, severity="warning"))
            self._broken = True

    def finish(self) -> RecordedTraces:
        """Return all attempts in the order of their numbers."""
        places = array("Q", sorted(range(self.count), key=self._numbers.__getitem__))
        digest = blake2b(digest_size=_DIGEST)
        for place in places:
            digest.update(self._digests[place * _DIGEST : (place + 1) * _DIGEST])
        return RecordedTraces(self._spool.finish(), places, digest.hexdigest())


class RecordedTraces:
    """The traces of a live run."""

    def __init__(self, traces: Sequence[Trace], places: Sequence[int], digest: str) -> None:
        self._traces, self._places = traces, places
        self.digest = digest

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Trace]:
        return _read(self._traces, self._places)

    def batches(self) -> list[Batch]:
        """Divide the traces for scoring."""
        starts = range(0, len(self._places), _TRACES_PER_BATCH)
        parts = [self._places[start : start + _TRACES_PER_BATCH] for start in starts]
        return [partial(_read, self._traces, part) for part in parts]


def _is_text(text: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def _read(traces: Sequence[Trace], places: Sequence[int]) -> Iterator[Trace]:
    return (traces[place] for place in places)


def attempt_key(inputs: Mapping[str, object]) -> str:
    """Return a key that only a live run with the same inputs gets."""
    data = msgspec.json.encode(inputs, order="deterministic", enc_hook=str)
    return blake2b(data, digest_size=8).hexdigest()
