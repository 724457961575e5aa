"""What a chat endpoint takes. Endpoints differ, and no list of models stays right: what one does
not take it says in a refusal, and from then on it is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from carob.judges.model import Message, Request
from carob.judges.providers.refusal import Complaint
from carob.schema import Json

_REFUSAL = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|allowed|permitted|available|invalid|must be|only",
    re.IGNORECASE,
)
_WORDS = {
    "response_format": "response_format",
    "json_schema": "response_format",
    "max_tokens": "max_tokens",
    "top_logprobs": "top_logprobs",
    "logprobs": "logprobs",
    "temperature": "temperature",
}
_ALTERNATIVES = 20
_FEW = 5  # some versions of Azure allow no more


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a request is worded."""

    form: Literal["json_schema", "json_object", "text"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    alternatives: int = _ALTERNATIVES

    def body(self, model: str, request: Request) -> dict[str, Json]:
        """The request as JSON."""
        body: dict[str, Json] = {"model": model, "messages": self._messages(request)}
        body[self.limit] = 1 if request.words else request.max_tokens
        if request.temperature is not None and self.temperature:
            body["temperature"] = request.temperature
        if not request.words and self.form != "text":
            body["response_format"] = self._format(request)
        if (request.words or request.probabilities) and self.alternatives:
            body |= {"logprobs": True, "top_logprobs": self.alternatives}
        return body

    def learned(self, said: Complaint, body: Mapping[str, Json]) -> Dialect | None:
        """The next thing to try after such a refusal; `None` if it teaches nothing."""
        match _culprit(said, body):
            case "response_format":
                return replace(self, form="json_object" if self.form == "json_schema" else "text")
            case "max_tokens" if "max_completion_tokens" in said.message:
                return replace(self, limit="max_completion_tokens")
            case "temperature":
                return replace(self, temperature=False)
            case "top_logprobs" if self.alternatives > _FEW:
                return replace(self, alternatives=_FEW)
            case "logprobs" | "top_logprobs":
                return replace(self, alternatives=0)
            case _:
                return None

    def _format(self, request: Request) -> dict[str, Json]:
        if self.form == "json_object":
            return {"type": "json_object"}
        schema: dict[str, Json] = {"name": "answer", "strict": True, "schema": {**request.schema}}
        return {"type": "json_schema", "json_schema": schema}

    def _messages(self, request: Request) -> list[Json]:
        messages = request.messages
        if self.form != "json_schema" and not request.words:
            messages = _instructed(messages, request.schema)
        return [{"role": one.role, "content": one.text} for one in messages]


def _instructed(messages: tuple[Message, ...], schema: Mapping[str, Json]) -> tuple[Message, ...]:
    """Where the wire does not carry the schema, the words must."""
    wanted = msgspec.json.encode(schema).decode()
    words = f"Answer with one JSON object, and nothing else, that satisfies this schema: {wanted}"
    if messages and messages[0].role == "system":
        first = Message(role="system", text=f"{messages[0].text}\n\n{words}")
        return (first, *messages[1:])
    return (Message(role="system", text=words), *messages)


def _culprit(said: Complaint, body: Mapping[str, Json]) -> str | None:
    """The parameter that was refused: as named, or else the first that the message speaks of."""
    named = said.param.split(".")[0]
    if named:
        return named if named in body else None
    if not _REFUSAL.search(said.message):
        return None
    message = said.message.lower()
    return next((name for word, name in _WORDS.items() if word in message and name in body), None)
