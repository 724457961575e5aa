"""What is sent for a question, and the address under which its answer is kept."""

from __future__ import annotations

from hashlib import sha256

import msgspec

from carob.judges.client.shape import schema_of
from carob.judges.model import Message, Request
from carob.metrics.question import Question, T
from carob.schema import JudgeChoice


def request_for(question: Question[T], choice: JudgeChoice) -> Request:
    """The request that a question is at first."""
    return Request(
        messages=(
            Message(role="system", text=question.instructions),
            Message(role="user", text=question.prompt),
        ),
        schema=schema_of(question.answer),
        max_tokens=choice.max_tokens,
        temperature=choice.temperature,
        probabilities=question.decides is not None,
    )


def again(request: Request, said: str, wrong: str) -> tuple[Message, ...]:
    """The question once more, after what was answered the last time."""
    answer = Message(role="assistant", text=said[:20_000] or "(nothing)")
    complaint = f"That is not a valid answer: {wrong}. Answer again, as JSON that fits the schema."
    return (*request.messages[:2], answer, Message(role="user", text=complaint))


def address_of(question: Question[T], choice: JudgeChoice) -> str:
    """The digest of everything that decides the answer."""
    told = {
        "model": choice.model,
        "request": msgspec.to_builtins(request_for(question, choice)),
        "decides": question.decides,
        "sample": question.sample,
    }
    return f"sha256:{sha256(msgspec.json.encode(told, order='deterministic')).hexdigest()}"
