"""A command as a target: it lives for the whole run and speaks JSON lines on stdin and stdout.

A line in is `{"v": 1, "id", "case", "attempt", "turn", "message", "history", "state", "context",
"traceparent", "options"}`; the line out has the same `id` and the fields of a turn, or an `error`.
What the command writes to stderr is its log.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from carob.errors import UsageError
from carob.processes import kill_session
from carob.schema import Case, Json, TargetSettings, Trace, Turn
from carob.targets.replies import as_turn
from carob.targets.target import (
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)
from carob.traces.shape import as_object

_CAN: frozenset[Capability] = frozenset(
    ("state_in", "state_out", "calls", "results", "usage", "agents", "context")
)
_MAX_LINE = 64 * 2**20
_LOG_LINES, _LOG_BYTES = 5, 4000
_ENDING = 5.0
"""Seconds that a command may take to end after its input was closed."""


def open_command(settings: TargetSettings) -> Target:
    """Open `command:PROGRAM ARGUMENTS`."""
    try:
        words = shlex.split(settings.name.partition(":")[2])
    except ValueError as error:
        raise UsageError(f"invalid command: {error}", where=settings.name) from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"no such program: {words[0] if words else ''!r}", where=settings.name)
    return CommandTarget(settings.name, words, settings.options)


class CommandTarget:
    """A child process. One that ends is started again for the next conversation."""

    can = _CAN

    def __init__(self, name: str, words: list[str], options: Mapping[str, Json]) -> None:
        self.name = name
        self.params: dict[str, Json] = dict(options)
        self._words = words
        self._child: _AgentProcess | None = None
        self._lock: asyncio.Lock | None = None

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Start the command, unless it runs."""
        self._lock = self._lock or asyncio.Lock()
        async with self._lock:
            if self._child is None or self._child.ended:
                self._child = _AgentProcess(self._words)
                await self._child.start()
        return _CommandConversation(self._child, case, attempt, self.params)

    async def close(self) -> None:
        """Close its input, and end it if that does not."""
        if self._child:
            await self._child.close()


class _AgentProcess:
    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._log = b""
        """The end of its stderr."""
        self._tasks: list[asyncio.Task[None]] = []
        self.ended = False

    async def start(self) -> None:
        pipe = asyncio.subprocess.PIPE
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=_MAX_LINE,
                # Not in the group of the terminal: Ctrl-C would end the agent, and what it was
                # asked would count as its error.
                start_new_session=True,
            )
        except OSError as error:
            message = f"cannot be started: {error.strerror or error}"
            raise TargetError("agent", message, reached=False) from error
        self._tasks = [
            asyncio.create_task(self._read_answers(self._process)),
            asyncio.create_task(self._read_log(self._process)),
        ]

    async def ask(self, line: Mapping[str, Json]) -> dict[str, Any]:
        """Send a line, and wait for the answer with the same id."""
        process, id = self._process, str(line["id"])
        if process is None or process.stdin is None or self.ended:
            raise TargetError("agent", self._obituary(), reached=False)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[id] = future
        try:
            process.stdin.write(msgspec.json.encode(line) + b"\n")
            await process.stdin.drain()
            return await future
        except (BrokenPipeError, ConnectionResetError):
            raise TargetError("agent", self._obituary()) from None
        finally:
            self._waiting.pop(id, None)

    async def close(self) -> None:
        process = self._process
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        try:
            async with asyncio.timeout(_ENDING):
                await process.wait()
        except TimeoutError:
            kill_session(process)
            await process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read_answers(self, process: asyncio.subprocess.Process) -> None:
        error: TargetError | None = None
        try:
            while process.stdout and (line := await process.stdout.readline()):
                if line.strip():
                    self._deliver(line)
        except (TargetError, ValueError) as failure:  # not JSON, or too long
            error = TargetError("protocol", str(failure))
        self.ended = True
        if error is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await process.wait()
                    await asyncio.sleep(0.05)  # its last words
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(error or TargetError("agent", self._obituary()))
        if error is not None:
            kill_session(process)

    def _deliver(self, line: bytes) -> None:
        try:
            answer = as_object(msgspec.json.decode(line))
        except msgspec.DecodeError:
            text = line.decode("utf-8", "replace").strip()[:120]
            raise TargetError("protocol", f"expected a JSON line on stdout, got {text!r}") from None
        future = self._waiting.get(str(answer.get("id")))
        if future is None:  # also the answer to a turn that timed out
            return
        if not future.done():
            future.set_result(answer)

    async def _read_log(self, process: asyncio.subprocess.Process) -> None:
        # By size, not by line: a log without line ends would block the command.
        while process.stderr and (data := await process.stderr.read(1 << 16)):
            self._log = (self._log + data)[-_LOG_BYTES:]

    def _obituary(self) -> str:
        code = self._process.returncode if self._process else None
        state = "closed its output" if code is None else f"ended with exit code {code}"
        lines = self._log.decode("utf-8", "replace").split("\n")
        log = " | ".join(line.strip()[:300] for line in lines[-_LOG_LINES - 1 :] if line.strip())
        return f"the command {state}{': ' if log else ''}{log}"


class _CommandConversation:
    def __init__(
        self, child: _AgentProcess, case: Case, attempt: Attempt, options: Mapping[str, Json]
    ) -> None:
        self._child, self._case, self._attempt = child, case, attempt
        self._options = dict(options)
        self._history: list[Json] = []
        self._state: dict[str, Json] = dict(attempt.state)
        self._stated = False

    async def say(self, message: str, turn: TurnContext) -> Turn:
        """Send one line, and read the answer."""
        answer = await self._child.ask(
            {
                "v": 1,
                "id": f"{self._attempt.session}-{turn.index}",
                "session": self._attempt.session,
                "case": self._case.id,
                "attempt": self._attempt.number,
                "seed": self._attempt.seed,
                "turn": turn.index,
                "message": message,
                "history": self._history,
                "state": self._state,
                "context": self._case.context,
                "traceparent": turn.traceparent,
                "options": self._options,
            }
        )
        if answer.get("error") is not None:
            raise TargetError("agent", str(answer["error"]))
        reply = as_turn({key: answer[key] for key in answer if key not in ("id", "v")}, "a line")
        if reply.state is not None:
            self._state, self._stated = reply.state, True
        self._history = [
            *self._history,
            {"role": "user", "content": message},
            {"role": "assistant", "content": reply.turn.response or ""},
        ]
        return reply.turn

    async def close(self) -> Trace | None:
        """Return the last state."""
        return Trace(id="", state=self._state) if self._stated else None
