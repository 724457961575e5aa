"""An HTTP server on loopback that says what it is told to say, also what no good server says."""

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

_PIECE = 16


@dataclass(frozen=True, kw_only=True)
class Answer:
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    delay: float = 0.0
    """Seconds before anything is said."""
    drip: float = 0.0
    """Seconds between pieces of the body."""
    truncated: int | None = None
    """Bytes of the body after which the connection is broken off."""


def says(value: Any, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """JSON."""
    every = {"Content-Type": "application/json"} | dict(headers or {})
    return Answer(status=status, headers=every, body=json.dumps(value).encode())


@dataclass(frozen=True, kw_only=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    """By names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Scripted:
    """Answers in the order of a list, the last one again and again, or as a function says. Runs in
    a thread of its own while it is entered."""

    def __init__(self, script: Answer | Sequence[Answer] | Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self.open = 0
        """Connections that are open now."""
        self._script = script
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def closed(self, *, within: float = 5.0) -> bool:
        """Are all connections let go in this time?"""
        end = time.monotonic() + within
        while self.open and time.monotonic() < end:
            time.sleep(0.01)
        return not self.open

    def __enter__(self) -> Scripted:
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
                await self._talk(reader, writer)
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.close()

    async def _talk(self, reader: StreamReader, writer: StreamWriter) -> None:
        start = b""
        while (asked := await _read(reader, start)) is not None:
            self.asked.append(asked)
            answer = self._answer(asked)
            more = asyncio.ensure_future(reader.read(1))  # nothing, if the client has gone
            said = asyncio.ensure_future(_say(answer, writer))
            try:
                await asyncio.wait({more, said}, return_when=asyncio.FIRST_COMPLETED)
                start = more.result() if more.done() else b""
                if answer.truncated is not None or (more.done() and not start):
                    return
            finally:
                for task in (more, said):
                    task.cancel()
                await asyncio.gather(more, said, return_exceptions=True)

    def _answer(self, asked: Asked) -> Answer:
        if isinstance(self._script, Answer):
            return self._script
        if callable(self._script):
            return self._script(asked)
        return self._script[min(len(self.asked), len(self._script)) - 1]


async def _read(reader: StreamReader, start: bytes) -> Asked | None:
    """A request, if one comes."""
    try:
        head = (start + await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {
        name.lower(): text.strip() for name, _, text in (one.partition(":") for one in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(method=method, path=path, headers=headers, body=body)


async def _say(answer: Answer, writer: StreamWriter) -> None:
    await asyncio.sleep(answer.delay)
    headers = {"Content-Length": str(len(answer.body))} | dict(answer.headers)
    lines = "".join(f"{name}: {text}\r\n" for name, text in headers.items())
    phrase = HTTPStatus(answer.status).phrase if answer.status != 529 else "Overloaded"
    writer.write(f"HTTP/1.1 {answer.status} {phrase}\r\n{lines}\r\n".encode())
    body = answer.body[: answer.truncated]
    step = _PIECE if answer.drip else max(1, len(body))
    for start in range(0, len(body), step):
        writer.write(body[start : start + step])
        await writer.drain()
        await asyncio.sleep(answer.drip)
    await writer.drain()
