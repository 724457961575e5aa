"""Build the request for a question, and the key of its answer in the cache."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from carob.judges.client.answer_type import answer_schema
from carob.judges.model import JudgeMessage, JudgeRequest
from carob.metrics.judge import Question, T
from carob.schema import JudgeSettings

_MAX_QUOTED = 20_000


def build_request(question: Question[T], settings: JudgeSettings) -> JudgeRequest:
    """Return the first request for a question."""
    return JudgeRequest(
        messages=(
            JudgeMessage(role="system", text=question.instructions),
            JudgeMessage(role="user", text=question.prompt),
        ),
        schema=answer_schema(question.answer),
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        probabilities=question.decides is not None,
    )


def retry_messages(request: JudgeRequest, reply: str, problem: str) -> tuple[JudgeMessage, ...]:
    """Return the question again, followed by the last reply and the problem with it."""
    answer = JudgeMessage(role="assistant", text=reply[:_MAX_QUOTED] or "(nothing)")
    text = f"That is not a valid answer: {problem}. Answer again, as JSON that fits the schema."
    return (*request.messages[:2], answer, JudgeMessage(role="user", text=text))


def cache_key(question: Question[T], settings: JudgeSettings) -> str:
    """Return the digest of everything that determines the answer.

    It covers the field names of `JudgeRequest` too. Changing them, or any text of a prompt, makes
    every cached answer unreachable.
    """
    content = {
        "model": settings.model,
        "request": msgspec.to_builtins(build_request(question, settings)),
        "decides": question.decides,
        "sample": question.sample,
    }
    return f"sha256:{sha256(msgspec.json.encode(content, order='deterministic')).hexdigest()}"
