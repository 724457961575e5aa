"""A model in a file of the user's, run by llama.cpp in a process of its own."""

from __future__ import annotations

import asyncio
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from typing import cast

import msgspec

from carob.judges.model import RefusedError, Reply, Request
from carob.judges.providers.bounded import bounded
from carob.judges.providers.chat import Chat
from carob.judges.providers.endpoint import Endpoint
from carob.judges.providers.keys import Keys
from carob.judges.providers.refusal import short

_PROGRAM = Path(__file__).with_name("llama.py")
_CONTEXT = 8192
"""Tokens of a question with its answer; memory is taken for all of them."""
_STARTS = 3
"""A model that ended is started again, but one that ends again and again is broken."""
_GRACE = 5.0
"""Seconds to end in."""


class _Answer(msgspec.Struct):
    url: str = ""
    error: str = ""


class Local:
    """A local model, loaded when it is first asked. It answers one question at a time, so that the
    same question always has the same answer."""

    words = True
    at_once: int | None = 1

    def __init__(self, weights: Path, *, name: str) -> None:
        self.name = name
        self._weights = weights
        self._key = token_urlsafe()  # other users of the machine can reach the port too
        self._starts = 0
        self._process: Process | None = None
        self._chat: asyncio.Task[Chat] | None = None

    @property
    def pid(self) -> int | None:
        """The process that the model runs in, once there is one."""
        return self._process.pid if self._process else None

    async def reply(self, request: Request) -> Reply:
        """The reply; the first one waits until the model is loaded."""
        if self._chat is None or self._ended():
            self._chat = asyncio.create_task(self._start(self._chat))
        # Who gives up waiting does not stop the loading: the next question needs it too.
        chat = await asyncio.shield(self._chat)
        schema = bounded(request.schema, request.max_tokens)
        return await chat.reply(replace(request, schema=schema))

    async def close(self) -> None:
        """End the process."""
        started, self._chat = self._chat, None
        if started is not None:
            await self._stop(started)

    def _ended(self) -> bool:
        loaded = self._chat is not None and self._chat.done() and not self._chat.exception()
        return loaded and self._process is not None and self._process.returncode is not None

    async def _start(self, before: asyncio.Task[Chat] | None) -> Chat:
        if before is not None:
            await self._stop(before)
        if self._starts == _STARTS:
            message = f"{self.name} ended {_STARTS} times, and is not started again"
            raise RefusedError("rejected", message)
        self._starts += 1
        endpoint = Endpoint(
            name=self.name,
            model="local",
            url=f"{await self._launch()}/v1/chat/completions",
            headers={"Authorization": f"Bearer {self._key}"},
            keys=Keys(self._key),
        )
        return Chat(endpoint, concurrency=1, words=self.words)

    async def _launch(self) -> str:
        """Where the model answers, now that it is loaded."""
        # In a session of its own, so that Ctrl-C is for the run to deal with. `-P`: modules in the
        # folder of the user's are none of its business.
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(_PROGRAM),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
        )
        stdin, stdout = cast("StreamWriter", process.stdin), cast("StreamReader", process.stdout)
        wanted = {"path": str(self._weights), "key": self._key, "context": _CONTEXT}
        stdin.write(msgspec.json.encode(wanted) + b"\n")
        line = await stdout.readline()
        answer = msgspec.json.decode(line or b"{}", type=_Answer)
        if not answer.url:
            why = answer.error or f"its process ended with {await process.wait()}"
            raise RefusedError("rejected", f"llama.cpp does not load {self.name}: {short(why)}")
        return answer.url

    async def _stop(self, started: asyncio.Task[Chat]) -> None:
        started.cancel()
        (chat,) = await asyncio.gather(started, return_exceptions=True)
        if isinstance(chat, Chat):
            await chat.close()
        process, self._process = self._process, None
        if process is None:
            return
        cast("StreamWriter", process.stdin).close()
        try:
            await asyncio.wait_for(process.wait(), _GRACE)
        except TimeoutError:
            process.kill()
            await process.wait()
