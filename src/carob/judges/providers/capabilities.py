"""The parameters that a chat endpoint accepts.

Endpoints differ, and no list of models stays correct. So the first request uses everything, and a
parameter that the endpoint rejects is left out or weakened from then on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import msgspec

from carob.judges.model import JudgeMessage, JudgeRequest
from carob.judges.providers.errors import ErrorBody
from carob.schema import Json

_REJECTION = re.compile(
    r"support|unknown|unrecogni[sz]ed|unexpected|allowed|permitted|available|invalid|must be|only",
    re.IGNORECASE,
)
# The words of a message and the parameter that each refers to. `top_logprobs` contains `logprobs`,
# so it comes first.
_PARAMETERS = {
    "response_format": "response_format",
    "json_schema": "response_format",
    "max_tokens": "max_tokens",
    "top_logprobs": "top_logprobs",
    "logprobs": "logprobs",
    "temperature": "temperature",
}
_MANY_ALTERNATIVES = 20
_FEW_ALTERNATIVES = 5  # the maximum of some versions of Azure


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What an endpoint accepts, as far as it is known."""

    response_format: Literal["json_schema", "json_object", "text"] = "json_schema"
    limit_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    alternatives: int = _MANY_ALTERNATIVES

    def request_body(self, model: str, request: JudgeRequest) -> dict[str, Json]:
        """Return the request as JSON."""
        body: dict[str, Json] = {"model": model, "messages": self._messages(request)}
        body[self.limit_name] = 1 if request.words else request.max_tokens
        if request.temperature is not None and self.temperature:
            body["temperature"] = request.temperature
        if not request.words and self.response_format != "text":
            body["response_format"] = self._format(request)
        if (request.words or request.probabilities) and self.alternatives:
            body |= {"logprobs": True, "top_logprobs": self.alternatives}
        return body

    def without_rejected(self, error: ErrorBody, body: Mapping[str, Json]) -> Capabilities | None:
        """Return the capabilities to try next, or `None` if the error is not about a parameter.

        Every step weakens something for good, so there are only a few until there is nothing left
        to try.
        """
        match _find_rejected(error, body):
            case "response_format":
                weaker = "json_object" if self.response_format == "json_schema" else "text"
                return replace(self, response_format=weaker)
            case "max_tokens" if "max_completion_tokens" in error.message:
                return replace(self, limit_name="max_completion_tokens")
            case "temperature":
                return replace(self, temperature=False)
            case "top_logprobs" if self.alternatives > _FEW_ALTERNATIVES:
                return replace(self, alternatives=_FEW_ALTERNATIVES)
            case "logprobs" | "top_logprobs":
                return replace(self, alternatives=0)
            case _:
                return None

    def _format(self, request: JudgeRequest) -> dict[str, Json]:
        if self.response_format == "json_object":
            return {"type": "json_object"}
        schema: dict[str, Json] = {"name": "answer", "strict": True, "schema": {**request.schema}}
        return {"type": "json_schema", "json_schema": schema}

    def _messages(self, request: JudgeRequest) -> list[Json]:
        messages = request.messages
        if self.response_format != "json_schema" and not request.words:
            messages = _with_schema(messages, request.schema)
        return [{"role": message.role, "content": message.text} for message in messages]


def _with_schema(
    messages: tuple[JudgeMessage, ...], schema: Mapping[str, Json]
) -> tuple[JudgeMessage, ...]:
    """Add the schema to the system message, for endpoints that have no parameter for it."""
    encoded = msgspec.json.encode(schema).decode()
    text = f"Answer with one JSON object, and nothing else, that satisfies this schema: {encoded}"
    if messages and messages[0].role == "system":
        first = JudgeMessage(role="system", text=f"{messages[0].text}\n\n{text}")
        return (first, *messages[1:])
    return (JudgeMessage(role="system", text=text), *messages)


def _find_rejected(error: ErrorBody, body: Mapping[str, Json]) -> str | None:
    """Return the parameter that the error names, or else the first one that its message mentions
    together with a word of rejection."""
    param = error.param.split(".")[0]
    if param:
        return param if param in body else None
    if not _REJECTION.search(error.message):
        return None
    message = error.message.lower()
    mentioned = (name for word, name in _PARAMETERS.items() if word in message and name in body)
    return next(mentioned, None)
