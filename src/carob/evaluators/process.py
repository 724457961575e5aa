"""Processes of evaluators: one for each document, or a few that answer line by line.

A process is the leader of its own group. When its time is up, the whole group is killed: an
evaluator that starts a browser or a model leaves nothing behind.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader
from threading import Lock, Semaphore, Thread, Timer
from typing import IO, NamedTuple, TypeVar, cast
from weakref import WeakSet

from carob.processes import kill_session

T = TypeVar("T")

_PASSED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "TZ")
"""Environment variables that every evaluator receives. Everything else may be a secret."""
_MAX_LINE = 64 << 20
_SHOWN_ERRORS = 2000
"""Characters of stderr in an error message: the end, where the exception is."""
_DRAINING = 0.5
"""Seconds in which the rest of stderr is read after a process has ended."""
_WATCHED, _WATCHED_ANSWERS = 0.02, 3
"""Seconds in which a second line would come, after each of the first answers of a process."""


class EvaluatorError(Exception):
    """The evaluator broke: it ended, was too slow, or wrote something that is not an answer."""


class Launch(NamedTuple):
    """How to start an evaluator."""

    command: tuple[str, ...]
    timeout: float
    env: tuple[str, ...] = ()
    """The names of further environment variables to pass."""
    persistent: bool = False
    """Whether a process answers many lines, or one document until its input ends."""


def pass_environment(names: tuple[str, ...]) -> dict[str, str]:
    """Return the listed variables of the environment, and the few that every program needs.
    Those that `CAROB_EVALUATOR_ENV` lists are passed to every evaluator."""
    listed = os.environ.get("CAROB_EVALUATOR_ENV", "").replace(",", " ").split()
    wanted = (*_PASSED, *names, *listed)
    return {name: os.environ[name] for name in wanted if name in os.environ}


class EvaluatorPool:
    """The processes of one evaluator. Safe to use from several threads."""

    def __init__(self, launch: Launch, size: int) -> None:
        self._launch = launch
        self._slots = Semaphore(size)
        self._lock = Lock()
        self._idle: list[_EvaluatorProcess] = []
        _POOLS.add(self)

    def ask(self, document: bytes, read: Callable[[bytes], T]) -> T:
        """Send a document without line breaks, and return the answer as `read` reads it. Raises
        `EvaluatorError`. A process whose answer cannot be read is not asked again: what it writes
        next may still belong to this document."""
        with self._slots:
            child = self._take()
            keep = False
            try:
                answer = read(child.ask(document))
                keep = self._launch.persistent
                return answer
            finally:
                if keep:
                    with self._lock:
                        self._idle.append(child)
                else:
                    child.close()

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.close()

    def _take(self) -> _EvaluatorProcess:
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child and child.alive:
            return child
        if child:
            child.close()
        return _EvaluatorProcess(self._launch)


_POOLS: WeakSet[EvaluatorPool] = WeakSet()


def close_pools() -> None:
    """End every idle process of every evaluator."""
    for pool in [*_POOLS]:
        pool.close()


class _Tail:
    """The end of what a process writes to stderr. It is read all the time: a pipe that nobody reads
    would block the evaluator, and a file that takes everything would fill the disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._end = b""
        self._thread = Thread(target=self._read, name="carob-evaluator-stderr", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):  # closed meanwhile
            while data := os.read(self._stream.fileno(), 1 << 16):
                self._end = (self._end + data)[-_SHOWN_ERRORS:]

    def text(self) -> str:
        self._thread.join(_DRAINING)  # a child of the process may hold it open for longer
        return self._end.decode("utf-8", "replace").strip()

    def close(self) -> None:
        self._thread.join(_DRAINING)
        if not self._thread.is_alive():  # else a child of its own group holds it open
            self._stream.close()


class _EvaluatorProcess:
    def __init__(self, launch: Launch) -> None:
        self._launch = launch
        self._timed_out = False
        self._answers = 0
        try:
            self._process = subprocess.Popen(  # noqa: S603 - code that the user named or trusted
                launch.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=pass_environment(launch.env),
                start_new_session=True,
            )
        except OSError as error:
            message = f"{launch.command[0]} cannot be started: {error.strerror or error}"
            raise EvaluatorError(message) from error
        assert self._process.stderr is not None  # noqa: S101 - a pipe
        self._errors = _Tail(self._process.stderr)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, document: bytes) -> bytes:
        timer = Timer(self._launch.timeout, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            answer = self._exchange(document)
        finally:
            timer.cancel()
        if self._timed_out:
            raise EvaluatorError(self._describe(f"no answer after {self._launch.timeout:g} s"))
        return answer

    def _exchange(self, document: bytes) -> bytes:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - both are pipes
        # An evaluator that does not read its input may still answer, or explain itself on stderr.
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.write(document + b"\n")
            stdin.flush()
        if self._launch.persistent:
            return self._read_line(stdout)
        with suppress(BrokenPipeError, ConnectionResetError):
            stdin.close()
        answer = stdout.read(_MAX_LINE + 1)
        code = self._process.wait()
        if not self._timed_out and code != 0:
            raise EvaluatorError(self._describe(f"exit code {code}"))
        if not self._timed_out and not answer.strip():
            raise EvaluatorError(self._describe("it wrote no answer to stdout"))
        return answer

    def _read_line(self, stdout: IO[bytes]) -> bytes:
        while line := stdout.readline(_MAX_LINE):
            if line.strip():
                self._refuse_more(stdout)
                return line
        if self._timed_out:
            return b""
        code = self._process.wait()
        raise EvaluatorError(self._describe(f"it ended with exit code {code}"))

    def _refuse_more(self, stdout: IO[bytes]) -> None:
        """Raise `EvaluatorError` if more than one line answers a document: the next one would be
        taken for the answer to the next document. The first answers are watched for longer."""
        if sys.platform == "win32":
            return
        self._answers += 1
        wait = _WATCHED if self._answers <= _WATCHED_ANSWERS else 0.0
        if _pending(stdout) or (select.select([stdout], [], [], wait)[0] and _pending(stdout)):
            raise EvaluatorError(self._describe("it wrote more than one line for a pair"))

    def _time_out(self) -> None:
        self._timed_out = True
        kill_session(self._process)

    def close(self) -> None:
        """Kill the process and the children that it left behind, and close its files."""
        kill_session(self._process)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # input that the process did not read cannot be flushed
                if stream:
                    stream.close()
        self._errors.close()

    def _describe(self, message: str) -> str:
        text = self._errors.text()
        return f"{message}: {text}" if text else message


def _pending(stdout: IO[bytes]) -> bool:
    """Whether a process has written something that nobody has read."""
    os.set_blocking(stdout.fileno(), False)
    try:
        return bool(cast("BufferedReader", stdout).peek(1).strip())
    finally:
        os.set_blocking(stdout.fileno(), True)
