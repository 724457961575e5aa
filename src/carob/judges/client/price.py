"""What a judge's calls cost, and what one may cost before it is made."""

from __future__ import annotations

from functools import lru_cache

from carob.judges.model import Request
from carob.metrics.prices import price

_OWN = ("local", "ollama", "vllm")
"""Who runs the model himself gets no bill for a call."""
_TABLE = {"bedrock": "aws"}
_FRAME = 16
"""Tokens around a message."""


@lru_cache(maxsize=4096)
def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars; `None` if the price of the model, as the user names it, is not known."""
    provider, _, name = model.partition(":")
    if provider in _OWN:
        return 0.0
    try:
        return price(
            name,
            _TABLE.get(provider, provider),
            input_tokens=input_tokens,
            output_tokens=output_tokens,
        )
    except (ImportError, LookupError):
        return None


def at_most(model: str, request: Request) -> float | None:
    """US dollars that a request may cost: no tokenizer makes more of a text, and the answer is as
    long as it is allowed to be."""
    return cost(model, input_tokens(request), request.max_tokens)


def input_tokens(request: Request) -> int:
    """Tokens of a request, rather too many than too few."""
    texts = [*(one.text for one in request.messages), str(request.schema)]
    return sum(_tokens(text) + _FRAME for text in texts)


def _tokens(text: str) -> int:
    """A token is about four letters of English, three in other languages of ASCII, and may be less
    than one character elsewhere."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 3) + 2 * (len(text) - plain)
