"""Machines of a Ray cluster: on this one, each with an address of its own in the loopback range."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from time import monotonic, sleep

from tests.cluster.s3 import ENVIRONMENT, cluster_environment, free_port, wait_for

HEAD = "127.0.0.2"
_VARIABLES = {
    "RAY_AUTH_MODE": "token",
    "RAY_AUTH_TOKEN": "0123456789abcdef" * 4,
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}


class Nodes:
    """A running cluster. `address` is for machines of it, `client` for any other."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self.variables = {**_VARIABLES, **variables}
        self._folder = folder
        # The paths of its sockets must be shorter than a temporary folder of pytest is.
        self._scratch = mkdtemp(prefix="ray-")
        port, client = free_port(), free_port()
        self.address, self.client = f"{HEAD}:{port}", f"ray://{HEAD}:{client}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("--head", f"--port={port}", f"--ray-client-server-port={client}", ip=HEAD)
        wait_for(port, host=HEAD)
        wait_for(client, host=HEAD)

    def join(self) -> None:
        """Start another node."""
        number = len(self._processes) + 2
        self._start(f"--address={self.address}", ip=f"127.0.0.{number}")

    def is_last(self, process: int) -> bool:
        """Whether a process belongs to the node that joined last."""
        try:
            return os.getpgid(process) == self._processes[-1].pid
        except ProcessLookupError:
            return False

    def kill_last(self) -> None:
        """Kill the node that joined last, with all its workers, as a power cut would."""
        process = self._processes.pop()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _start(self, *options: str, ip: str) -> None:
        command = [ENVIRONMENT / "bin" / "ray", "start", "--block", *options]
        command += [f"--node-ip-address={ip}", "--num-cpus=1", "--object-store-memory=80000000"]
        command += ["--disable-usage-stats", "--include-log-monitor=false"]
        if "--head" in options:
            command += ["--include-dashboard=false", f"--temp-dir={self._scratch}"]
        with (self._folder / f"node-{ip}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=cluster_environment(self._folder, self.variables),
                start_new_session=True,
            )
        self._processes.append(process)

    def close(self) -> None:
        for process in reversed(self._processes):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        rmtree(self._scratch, ignore_errors=True)


@contextmanager
def ray_nodes(folder: Path, variables: Mapping[str, str]) -> Generator[Nodes]:
    """Start a cluster with one node."""
    nodes = Nodes(folder, variables)
    try:
        yield nodes
    finally:
        nodes.close()


def wait_until(condition: object, seconds: float = 60) -> None:
    """Wait until a function returns something true."""
    assert callable(condition)
    end = monotonic() + seconds
    while not condition():
        assert monotonic() < end, "waited too long"
        sleep(0.1)
