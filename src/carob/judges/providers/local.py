"""Local models: a GGUF file, run by llama.cpp in a separate process."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from secrets import token_urlsafe
from typing import Any, cast

import msgspec

from carob.judges.model import JudgeModel, JudgeReply, JudgeRequest, ProviderError
from carob.judges.providers.chat import ChatModel
from carob.judges.providers.endpoint import ModelEndpoint
from carob.judges.providers.errors import quote, require_package
from carob.judges.providers.gguf import find_weights
from carob.judges.providers.redaction import Redactor
from carob.schema import Json, JudgeSettings
from carob.schema.base import prepare_type

_PROGRAM = Path(__file__).with_name("llama_server.py")
_CONTEXT = 8192
"""Tokens of a prompt with its answer. Memory is reserved for all of them."""
_MAX_STARTS = 3
"""A process that crashed is restarted, but not one that crashes again and again."""
_GRACE_SECONDS = 5.0
_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_MAX_TEXT = 400
_CHARACTERS_PER_TOKEN = 0.9
"""Low, because numbers and codes have little more than one character per token, and an answer
consists of more than its texts."""


def open_local(settings: JudgeSettings) -> JudgeModel:
    """Open a model of `local`."""
    weights = find_weights(settings)
    require_package("aiohttp", extra="local")
    require_package("xllamacpp", extra="local")
    return LocalModel(weights, name=settings.model)


class _ServerStatus(msgspec.Struct):
    url: str = ""
    error: str = ""


class LocalModel:
    """A local model, loaded at the first request. It answers one request at a time, so that the
    same question always gets the same answer."""

    prefers_words = True
    max_concurrency: int | None = 1

    def __init__(self, weights: Path, *, name: str) -> None:
        self.name = name
        self._weights = weights
        self._key = token_urlsafe()  # other users of the machine can reach the port too
        self._starts = 0
        self._process: Process | None = None
        self._chat: asyncio.Task[ChatModel] | None = None

    @property
    def pid(self) -> int | None:
        """The process id of the server, if it is running."""
        return self._process.pid if self._process else None

    async def reply(self, request: JudgeRequest) -> JudgeReply:
        """Send one request. The first one waits until the model is loaded."""
        if self._chat is None or self._has_crashed():
            self._chat = asyncio.create_task(self._start(self._chat))
        # Shielded: a caller that times out must not stop the loading, which the next request needs.
        chat = await asyncio.shield(self._chat)
        schema = limit_texts(request.schema, request.max_tokens)
        return await chat.reply(replace(request, schema=schema))

    async def close(self) -> None:
        """Stop the process."""
        chat, self._chat = self._chat, None
        if chat is not None:
            await self._stop(chat)

    def _has_crashed(self) -> bool:
        loaded = self._chat is not None and self._chat.done() and not self._chat.exception()
        return loaded and self._process is not None and self._process.returncode is not None

    async def _start(self, previous: asyncio.Task[ChatModel] | None) -> ChatModel:
        if previous is not None:
            await self._stop(previous)
        if self._starts == _MAX_STARTS:
            message = f"{self.name} crashed {_MAX_STARTS} times and is not restarted"
            raise ProviderError("rejected", message)
        self._starts += 1
        endpoint = ModelEndpoint(
            name=self.name,
            model="local",
            url=f"{await self._launch()}/v1/chat/completions",
            headers={"Authorization": f"Bearer {self._key}"},
            redactor=Redactor(self._key),
        )
        return ChatModel(endpoint, concurrency=1, prefers_words=self.prefers_words)

    async def _launch(self) -> str:
        """Start the server and return its URL once the model is loaded."""
        # A session of its own, so that Ctrl-C reaches only the run. `-P` keeps modules in the
        # user's working directory from shadowing ours.
        self._process = process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            str(_PROGRAM),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env=_without_secrets(os.environ),
            start_new_session=True,
        )
        stdin, stdout = cast("StreamWriter", process.stdin), cast("StreamReader", process.stdout)
        settings = {"path": str(self._weights), "key": self._key, "context": _CONTEXT}
        stdin.write(msgspec.json.encode(settings) + b"\n")
        line = await stdout.readline()
        status = msgspec.json.decode(line or b"{}", type=prepare_type(_ServerStatus))
        if not status.url:
            problem = status.error or f"its process exited with {await process.wait()}"
            raise ProviderError("rejected", f"llama.cpp cannot load {self.name}: {quote(problem)}")
        return status.url

    async def _stop(self, started: asyncio.Task[ChatModel]) -> None:
        started.cancel()
        (chat,) = await asyncio.gather(started, return_exceptions=True)
        if isinstance(chat, ChatModel):
            await chat.close()
        process, self._process = self._process, None
        if process is None:
            return
        cast("StreamWriter", process.stdin).close()
        try:
            await asyncio.wait_for(process.wait(), _GRACE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for native code that reads a file of somebody else: it needs no keys."""
    return {name: value for name, value in environment.items() if not _SECRET.search(name.upper())}


def limit_texts(schema: Mapping[str, Json], max_tokens: int) -> dict[str, Json]:
    """Return the schema with a maximum length for each free text, so that all of them fit.

    A small model often writes until it is cut off, and a truncated answer is invalid. A grammar
    that allows only so many characters forces it to finish.
    """
    count = max(1, _count_texts(schema))
    limit = min(_MAX_TEXT, max(1, int(_CHARACTERS_PER_TOKEN * max_tokens / count)))
    return _with_max_length(schema, limit)


def _count_texts(node: Any) -> int:
    if isinstance(node, list):
        return sum(map(_count_texts, cast("list[Any]", node)))
    if not isinstance(node, Mapping):
        return 0
    schema = cast("Mapping[str, Any]", node)
    return 1 if _is_free_text(schema) else sum(map(_count_texts, schema.values()))


def _with_max_length(node: Any, limit: int) -> Any:
    if isinstance(node, list):
        return [_with_max_length(item, limit) for item in cast("list[Any]", node)]
    if not isinstance(node, Mapping):
        return node
    schema = cast("Mapping[str, Any]", node)
    if _is_free_text(schema):
        return {**schema, "maxLength": limit}
    return {key: _with_max_length(value, limit) for key, value in schema.items()}


def _is_free_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and "enum" not in schema
