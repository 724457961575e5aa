"""A real S3 server on loopback: rclone, which serves the folders of a folder as buckets."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".ray"
needs_environment = pytest.mark.skipif(
    not (ENVIRONMENT / "cluster.txt").exists(), reason="tests/cluster/setup.sh installs Ray and S3"
)
KEY, SECRET = "carob-tests", "not-a-secret"


class StorageServer:
    """A running server, and the variables that lead to it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.variables = {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def put(self, name: str, content: bytes | str) -> str:
        """Store a file and return its address."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return f"s3://{name}"


@contextmanager
def storage_server(folder: Path) -> Generator[StorageServer]:
    """Serve a folder until the block ends."""
    program = ENVIRONMENT / "bin" / "rclone"
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = [program, "serve", "s3", folder, "--addr", f"127.0.0.1:{port}"]
    command += ["--auth-key", f"{KEY},{SECRET}", "--vfs-cache-mode", "off", "--dir-cache-time", "0"]
    with (folder.parent / "rclone.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(port)
        yield StorageServer(folder, port)
    finally:
        process.kill()
        process.wait()


def run_carob(
    folder: Path, variables: Mapping[str, str], *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    """Run a command of Carob in the environment that has s3fs and Ray."""
    return run_python(folder, variables, "-m", "carob", *arguments)


def run_python(
    folder: Path, variables: Mapping[str, str], *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    """Run the interpreter of that environment."""
    command = [ENVIRONMENT / "bin" / "python", *arguments]
    return subprocess.run(
        command,
        cwd=folder,
        env=cluster_environment(folder, variables),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def cluster_environment(folder: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process in that environment."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **known,
        "HOME": str(folder),  # no credentials or trust of whoever runs the tests
        "PYTHONPATH": str(ROOT / "src"),
        "SOURCE_DATE_EPOCH": "1780000000",
        **variables,
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int, seconds: float = 60, *, host: str = "127.0.0.1") -> None:
    """Wait until a server accepts connections."""
    end = monotonic() + seconds
    while monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex((host, port)) == 0:
                return
        sleep(0.05)
    sys.exit(f"nothing listens on port {port}")
