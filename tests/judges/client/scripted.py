"""A model that answers as it is told, for tests of whoever asks it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from carob.judges.model import JudgeReply, JudgeRequest, ProviderError

Line = JudgeReply | ProviderError | str


def reply(text: str, **more: object) -> JudgeReply:
    return JudgeReply(text=text, **{"input_tokens": 100, "output_tokens": 10, **more})  # pyright: ignore[reportArgumentType] - as the test says


@dataclass
class Scripted:
    """Says its lines one after the other, and the last one for ever."""

    lines: list[Line] | Callable[[JudgeRequest], Line]
    name: str = "local:scripted"
    prefers_words: bool = False
    max_concurrency: int | None = None
    seconds: float = 0.0
    asked: list[JudgeRequest] = field(default_factory=list[JudgeRequest])
    running: int = 0
    most: int = 0
    closed: int = 0

    @classmethod
    def saying(cls, *lines: Line) -> Scripted:
        return cls(lines=[*lines])

    async def reply(self, request: JudgeRequest) -> JudgeReply:
        self.asked.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        line = self._line(request)
        if isinstance(line, ProviderError):
            raise line
        return reply(line) if isinstance(line, str) else line

    def _line(self, request: JudgeRequest) -> Line:
        if callable(self.lines):
            return self.lines(request)
        return self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]

    async def close(self) -> None:
        self.closed += 1


def texts(requests: Iterable[JudgeRequest]) -> list[list[str]]:
    """What was sent, message by message."""
    return [[one.text for one in request.messages] for request in requests]
