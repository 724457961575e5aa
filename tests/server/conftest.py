"""A real server on loopback, and a client for it."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest


class Answer(NamedTuple):
    """The response to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Client(NamedTuple):
    """Sends requests to a server."""

    address: str

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        connection = http.client.HTTPConnection(self.host, timeout=30)
        try:
            connection.request(method, path, body, dict(headers or {}))
            response = connection.getresponse()
            found = {key.lower(): value for key, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.ask("GET", path)

    def upload(self, path: str, file: Path, field: str = "file") -> Answer:
        """Send a file as curl's `-F` does."""
        boundary = "----carob-test-boundary"
        head = (
            f"--{boundary}\r\n"
            f'Content-Disposition: form-data; name="{field}"; filename="{file.name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n"
        )
        body = head.encode() + file.read_bytes() + f"\r\n--{boundary}--\r\n".encode()
        kind = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
        return self.ask("POST", path, body, kind)


class Process(NamedTuple):
    """A server process that has said where it is."""

    process: subprocess.Popen[str]
    addresses: dict[str, str]

    @property
    def client(self) -> Client:
        return Client(self.addresses["pages"])

    @property
    def receiver(self) -> Client:
        return Client(self.addresses["otlp"])

    def kill(self) -> None:
        with self.process:
            self.process.kill()

    def stop(self) -> int:
        with self.process:
            self.process.terminate()
            return self.process.wait(15)


def start_server(folder: Path, *args: str) -> Process:
    """Start `carob serve` on free ports and wait until it is ready."""
    carob = Path(sys.executable).with_name("carob")
    command = [str(carob), "serve", "--port", "0", "--otlp-port", "0", "--grpc-port", "0", *args]
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ}, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    addresses: dict[str, str] = {}
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        if line == "ready\n":
            return Process(process, addresses)
        name, _, address = line.strip().rstrip("/").partition(" ")
        addresses[name] = address
    with process:
        raise AssertionError("".join(lines))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    """A server with an empty store."""
    started = start_server(tmp_path_factory.mktemp("served"))
    yield started
    assert started.stop() == 0


@pytest.fixture(scope="module")
def client(server: Process) -> Client:
    return server.client
