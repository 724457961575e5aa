"""A model with scripted replies, for tests of its callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from carob.judges.model import JudgeReply, JudgeRequest, ProviderError

ScriptedReply = JudgeReply | ProviderError | str


def reply(text: str, **more: object) -> JudgeReply:
    return JudgeReply(text=text, **{"input_tokens": 100, "output_tokens": 10, **more})  # pyright: ignore[reportArgumentType] - as the test says


@dataclass
class ScriptedModel:
    """Returns its replies in order, and then the last one again and again."""

    replies: list[ScriptedReply] | Callable[[JudgeRequest], ScriptedReply]
    name: str = "local:scripted"
    prefers_words: bool = False
    max_concurrency: int | None = None
    seconds: float = 0.0
    requests: list[JudgeRequest] = field(default_factory=list[JudgeRequest])
    running: int = 0
    most_running: int = 0
    closed: int = 0

    @classmethod
    def with_replies(cls, *replies: ScriptedReply) -> ScriptedModel:
        return cls(replies=[*replies])

    async def reply(self, request: JudgeRequest) -> JudgeReply:
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self.running -= 1
        answer = self._next_reply(request)
        if isinstance(answer, ProviderError):
            raise answer
        return reply(answer) if isinstance(answer, str) else answer

    def _next_reply(self, request: JudgeRequest) -> ScriptedReply:
        if callable(self.replies):
            return self.replies(request)
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    async def close(self) -> None:
        self.closed += 1


def texts(requests: Iterable[JudgeRequest]) -> list[list[str]]:
    """The texts of the messages of each request."""
    return [[message.text for message in request.messages] for request in requests]
