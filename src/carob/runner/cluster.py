"""A Ray cluster as a pool of worker processes on one machine or on many (extra `ray`).

A task is the name of a function and a small argument. What all tasks need is sent once to each
process; what they read and write goes to files and to the store, never through the cluster. A task
whose worker or machine dies is started again elsewhere, so tasks must be safe to repeat.
"""

from __future__ import annotations

import io
import os
import re
import secrets
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from importlib import import_module
from types import TracebackType
from typing import Any, NamedTuple, TextIO, TypeVar

from carob.errors import (
    CarobError,
    InputError,
    StoppedError,
    UsageError,
    install_hint,
    require_packages,
)
from carob.runner.workers import cpu_count
from carob.schema import Problem
from carob.schema.problem import ProblemListener, ignore

T = TypeVar("T")

LOCAL = "ray"
"""The name of a cluster of this machine alone, which starts and ends with the run."""
_SCHEME = "ray://"
_RESTARTS = 5
"""How often a task is started again after its worker died. One that exhausts the memory of every
machine would never end otherwise."""
_STORE_MEMORY = 128 << 20
"""Bytes of shared memory: only what all tasks need goes through it."""
_AHEAD = 2
"""Tasks that wait for each process, so that none is idle and few are lost with a machine."""
_SECONDS = 1.0
_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_MAX_MESSAGE = 200


class TaskReport(NamedTuple):
    """What a task returns: its result, or the error that the user should see."""

    result: Any = None
    problems: tuple[Problem, ...] = ()
    error: CarobError | None = None


class Cluster:
    """A connection to a cluster, until it is closed."""

    def __init__(
        self, address: str, *, jobs: int | None = None, report: ProblemListener = ignore
    ) -> None:
        """Connect to `ray://HOST:PORT`, or to `HOST:PORT` from a machine of the cluster; `ray`
        starts a cluster on this machine. At most `jobs` tasks run at the same time. `report`
        receives what Ray has to say, such as that a worker died."""
        check_packages()
        _set_environment(is_local=address == LOCAL)
        self._ray: Any = import_module("ray")  # late: an optional package that takes a second
        self._stack = ExitStack()
        self._stack.enter_context(redirect_stdout(_RayOutput(sys.stdout, report)))
        self._is_owner = not self._ray.is_initialized()
        if self._is_owner:
            try:
                self._connect(address, jobs)
            except BaseException:
                self._stack.close()
                raise
            self._stack.callback(self._ray.shutdown)
        self._jobs = jobs

    def _connect(self, address: str, jobs: int | None) -> None:
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if address == LOCAL:
            options |= {
                "address": "local",  # never one that happens to run on this machine
                "num_cpus": jobs or cpu_count(),
                "object_store_memory": _STORE_MEMORY,
                "include_dashboard": False,
            }
            if sys.platform == "linux":  # elsewhere, only one address leads back to the machine
                options["_node_ip_address"] = "127.0.0.2"
        else:
            options["address"] = address
        try:
            self._init(options)
        except (OSError, RuntimeError, ValueError) as error:
            first, _, rest = str(error).strip().partition("\n")
            if first.endswith(
                ":"
            ):  # "Initialization failure from server:", and why on the next line
                reason = rest.strip().partition("\n")[0]
                first = f"{first} {reason}".strip()
            message = f"cannot connect to the Ray cluster: {first}"
            raise InputError(message, where=address, hint=_CONNECT_HINT) from error

    def _init(self, options: Mapping[str, Any]) -> None:
        try:
            self._ray.init(**options)
        except ConnectionAbortedError:
            # The head starts a process for each client, and gives up if it is not ready in time, as
            # on a busy machine, or if its port is taken. Another attempt gets another port.
            self._ray.init(**options)

    def is_remote(self) -> bool:
        """Whether tasks may run on another machine, with another file system."""
        hosts = {node["NodeManagerHostname"] for node in self._ray.nodes() if node["Alive"]}
        return bool(hosts - {socket.gethostname()})

    def run(
        self, function: Callable[[Any, T], TaskReport], shared: object, items: Sequence[T]
    ) -> Iterator[tuple[int, TaskReport]]:
        """Call a function of a module with `shared` and each item. Yields the number of an item
        and the report about it, as they complete. Raises the error of the first that has one."""
        ray = self._ray
        box = [ray.put(shared)]  # in a list: a reference on its own would be resolved every time
        key = box[0].hex()
        remote = ray.remote(max_retries=_RESTARTS, num_cpus=1)(_call)
        waiting = list(reversed(range(len(items))))
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self._most_running():
                    number = waiting.pop()
                    running[remote.remote(function, box, key, items[number])] = number
                completed, _ = ray.wait([*running], timeout=_SECONDS)
                for task in completed:
                    number = running.pop(task)
                    yield number, self._result(task)
        finally:  # of an error or an interrupt
            for task in running:
                ray.cancel(task, force=False)

    def _most_running(self) -> int:
        """Asked again and again: machines join and leave."""
        cpus = int(self._ray.cluster_resources().get("CPU", 1)) or 1
        return self._jobs if self._jobs and self._jobs < cpus else cpus * _AHEAD

    def _result(self, task: Any) -> TaskReport:
        try:
            report: TaskReport = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            first = str(error).strip().partition("\n")[0]
            message = f"a task failed {_RESTARTS + 1} times: {first}"
            hint = "what is finished is saved; run the same command again to continue"
            raise StoppedError(message, hint=hint) from error
        if report.error:
            raise report.error
        return report

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()


class _RayOutput(io.TextIOBase):
    """Standard output while a cluster is used. Threads of Ray print messages to it, which would end
    up in the report: they become notes. All others print as before."""

    def __init__(self, stdout: TextIO, report: ProblemListener) -> None:
        super().__init__()
        self._stdout, self._report, self._last = stdout, report, ""

    def write(self, text: str, /) -> int:
        if not threading.current_thread().name.startswith("ray_"):
            return self._stdout.write(text)
        message = _STYLE.sub("", text).strip()[:_MAX_MESSAGE]
        if message and message != self._last:
            self._last = message
            self._report(Problem(where="Ray", message=message, severity="note"))
        return len(text)

    def flush(self) -> None:
        self._stdout.flush()


def _set_environment(*, is_local: bool) -> None:
    """Set what Ray reads when it is imported and when it starts processes."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else it warns
    if is_local:
        # It would send usage statistics, and let anyone who reaches its ports run code.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_AUTH_MODE", "token")
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))


_CONNECT_HINT = (
    "pass --on ray://HOST:10001, or the address that `ray start --head` prints; a token comes from"
    " RAY_AUTH_TOKEN"
)


def check_packages() -> None:
    """Raise `UsageError` unless Ray is installed, with the packages without which its nodes do not
    start beside others of OpenTelemetry."""
    require_packages("a run on Ray", "ray", extra="ray")
    try:
        import_module("opentelemetry.sdk.metrics")
        import_module("opentelemetry.exporter.prometheus")
    except ImportError as error:
        message = "a run on Ray requires opentelemetry-sdk and opentelemetry-exporter-prometheus"
        raise UsageError(message, hint=install_hint("ray")) from error


def check_address(address: str) -> None:
    """Raise `UsageError` unless the address is one of a cluster."""
    host, _, port = address.removeprefix(_SCHEME).rpartition(":")
    if address != LOCAL and not (host and port.isdecimal()):
        raise UsageError(
            f"unknown cluster {address!r}; expected ray, ray://HOST:PORT or HOST:PORT",
            where="--on",
        )


_SHARED: dict[str, Any] = {}
"""What all tasks of the current call of `run` need, in a worker process."""


def _call(
    function: Callable[[Any, Any], TaskReport], box: list[Any], key: str, item: object
) -> TaskReport:
    """Runs in a worker process, which makes many calls."""
    if key not in _SHARED:
        _SHARED.clear()  # of the run before, as long as the process lives
        _SHARED[key] = import_module("ray").get(box[0])
    return function(_SHARED[key], item)
