"""A load balancer over TCP: each connection goes to the next server that accepts it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import count

_SECONDS = 30.0


class Balancer:
    """Passes connections on. `backends` may change while it works."""

    def __init__(self, backends: list[str]) -> None:
        self.backends = backends
        """Hosts with their ports."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._turns = count()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        turn = next(self._turns)
        backends = [*self.backends]
        for offset in range(len(backends)):
            host, _, port = backends[(turn + offset) % len(backends)].rpartition(":")
            with suppress(OSError):
                server = socket.create_connection((host, int(port)), _SECONDS)
                threading.Thread(target=_copy, args=(server, client), daemon=True).start()
                _copy(client, server)
                return
        client.close()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@contextmanager
def balance(*backends: str) -> Generator[Balancer]:
    balancer = Balancer([*backends])
    try:
        yield balancer
    finally:
        balancer.close()
