"""An HTTP server on loopback with scripted responses, including invalid ones."""

from __future__ import annotations

import asyncio
import json
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Thread
from types import TracebackType
from typing import Any

_CHUNK = 16


@dataclass(frozen=True, kw_only=True)
class ServerResponse:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    delay: float = 0.0
    """Seconds before the response starts."""
    drip: float = 0.0
    """Seconds between chunks of the body."""
    truncated: int | None = None
    """Bytes of the body after which the connection is closed."""


def json_response(
    value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> ServerResponse:
    """A response with a JSON body."""
    every = {"Content-Type": "application/json"} | dict(headers or {})
    return ServerResponse(status=status, headers=every, body=json.dumps(value).encode())


@dataclass(frozen=True, kw_only=True)
class ReceivedRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class ScriptedServer:
    """Responds with a list in order, and then with its last item, or with the result of a function.
    Runs in its own thread inside a `with` block."""

    def __init__(
        self,
        script: ServerResponse
        | Sequence[ServerResponse]
        | Callable[[ReceivedRequest], ServerResponse],
    ) -> None:
        self.requests: list[ReceivedRequest] = []
        self.open = 0
        """Number of open connections."""
        self._script = script
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def closed(self, *, within: float = 5.0) -> bool:
        """Wait until all connections are closed; false after a timeout."""
        end = time.monotonic() + within
        while self.open and time.monotonic() < end:
            time.sleep(0.01)
        return not self.open

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        starting = asyncio.start_server(self._serve, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.open += 1
        try:
            with suppress(ConnectionError, asyncio.CancelledError):
                await self._handle_requests(reader, writer)
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()

    async def _handle_requests(self, reader: StreamReader, writer: StreamWriter) -> None:
        start = b""
        while (request := await _read(reader, start)) is not None:
            self.requests.append(request)
            answer = self._answer(request)
            more = asyncio.ensure_future(reader.read(1))  # empty if the client has disconnected
            sending = asyncio.ensure_future(_send(answer, writer))
            try:
                await asyncio.wait({more, sending}, return_when=asyncio.FIRST_COMPLETED)
                start = more.result() if more.done() else b""
                if answer.truncated is not None or (more.done() and not start):
                    return
            finally:
                for task in (more, sending):
                    task.cancel()
                await asyncio.gather(more, sending, return_exceptions=True)

    def _answer(self, request: ReceivedRequest) -> ServerResponse:
        if isinstance(self._script, ServerResponse):
            return self._script
        if callable(self._script):
            return self._script(request)
        return self._script[min(len(self.requests), len(self._script)) - 1]


async def _read(reader: StreamReader, start: bytes) -> ReceivedRequest | None:
    """Read the next request; None at the end of the connection."""
    try:
        head = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): text.strip() for name, _, text in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return ReceivedRequest(method=method, path=path, headers=headers, body=body)


async def _send(answer: ServerResponse, writer: StreamWriter) -> None:
    await asyncio.sleep(answer.delay)
    headers = {"Content-Length": str(len(answer.body))} | dict(answer.headers)
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    phrase = HTTPStatus(answer.status).phrase if answer.status != 529 else "Overloaded"
    writer.write(f"HTTP/1.1 {answer.status} {phrase}\r\n{lines}\r\n".encode())
    body = answer.body[: answer.truncated]
    step = _CHUNK if answer.drip else max(1, len(body))
    for start in range(0, len(body), step):
        writer.write(body[start : start + step])
        await writer.drain()
        await asyncio.sleep(answer.drip)
    await writer.drain()
