"""Worker processes that start wherever the program runs: in scripts, notebooks and workers.

And what each system does in its own way: killing processes, and being asked to stop.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future

# Process pools take longer to import than a small run takes to score, so they are imported where
# they are used.

T = TypeVar("T")


class SessionLeader(Protocol):
    """A process that was started with `start_new_session`."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None: ...


def kill_session(process: SessionLeader) -> None:
    """Kill a process and what it started. Windows has no sessions: there, its children live on."""
    with suppress(ProcessLookupError, PermissionError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


def call_when_stopped(loop: AbstractEventLoop, stop: Callable[[], object]) -> None:
    """Call a function in a loop when the process receives SIGINT or SIGTERM."""
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # the loop of Windows
            signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(stop))


class NoWorkersError(Exception):
    """Worker processes cannot be started, or one of them died. The work is left to the caller."""


class WorkerPool:
    """A pool of processes, each prepared by calling `initializer` with `arguments`.

    A process that Python starts first imports the main script again. In a script without a main
    guard, that would run the script again, up to the call that started the process. So the main
    script is hidden from new processes, unless the work refers to a class or function in it.
    """

    def __init__(self, jobs: int, initializer: Callable[..., None], *arguments: object) -> None:
        import multiprocessing
        import pickle
        from concurrent.futures import ProcessPoolExecutor

        process = multiprocessing.current_process()
        if process.daemon:
            raise NoWorkersError("daemonic processes cannot start processes")
        if getattr(process, "_inheriting", False):
            # This is a new process that imports a main script without a guard. Leave at once: the
            # process that started it goes on alone.
            sys.exit(1)
        work = pickle.dumps((initializer, arguments))
        self._needs_main = b"__main__" in work
        # The fork server would import the main script as well, and not survive a script that exits.
        quick = "forkserver" in multiprocessing.get_all_start_methods() and not self._needs_main
        context = multiprocessing.get_context("forkserver" if quick else "spawn")
        self._pool = ProcessPoolExecutor(jobs, context, _initialize, (work,))

    def submit(self, function: Callable[..., T], *arguments: object) -> Future[T]:
        """Send a call to the next free process. Raises `NoWorkersError` if a process died."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            with nullcontext() if self._needs_main else _main_hidden():
                return self._pool.submit(function, *arguments)
        except BrokenProcessPool as error:
            raise self._worker_died_error() from error

    def result(self, future: Future[T]) -> T:
        """Wait for the result of a call. Raises `NoWorkersError` if a process died."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            return future.result()
        except BrokenProcessPool as error:
            raise self._worker_died_error() from error

    def _worker_died_error(self) -> NoWorkersError:
        guard = "; does the script lack `if __name__ == '__main__':`?" if self._needs_main else ""
        return NoWorkersError(f"a worker process ended unexpectedly{guard}")

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After Ctrl-C, nobody waits for calls that are still running.
        interrupted = kind is not None and not issubclass(kind, Exception)
        self._pool.shutdown(wait=not interrupted, cancel_futures=kind is not None)


@contextmanager
def _main_hidden() -> Generator[None]:
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _initialize(work: bytes) -> None:
    import pickle

    initializer, arguments = pickle.loads(work)  # noqa: S301 - sent by the parent process
    initializer(*arguments)
