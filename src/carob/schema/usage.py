from __future__ import annotations

from collections.abc import Iterable

from carob.schema.noun import Noun


class Usage(Noun, frozen=True):
    """Tokens of one or more model calls; `None` is "not recorded".

    Cached tokens are part of the input tokens. Reasoning tokens are part of the output tokens.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    tool_tokens: int | None = None
    """Tokens of tool results fed back into the prompt, where a provider bills them apart."""
    total_tokens: int | None = None

    @classmethod
    def total(cls, parts: Iterable[Usage]) -> Usage:
        """The sum of several usages; a kind that no part recorded stays unrecorded."""
        sums: dict[str, int] = {}
        for part in parts:
            for field in cls.__struct_fields__:
                tokens: int | None = getattr(part, field)
                if tokens is not None:
                    sums[field] = sums.get(field, 0) + tokens
        return cls(**sums)


class ModelCall(Noun, frozen=True):
    """One call of a model, counted once however many spans recorded it."""

    model: str | None = None
    provider: str | None = None
    usage: Usage = Usage()
    agent: str | None = None
    finish_reason: str | None = None
    error: str | None = None
    start: int | None = None
    """Unix time in nanoseconds."""
    end: int | None = None
