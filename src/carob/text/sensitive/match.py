"""Kinds of sensitive data, and a match in a text."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

SensitiveKind = Literal["email", "phone", "card", "iban", "national-id", "secret"]
KINDS: tuple[SensitiveKind, ...] = get_args(SensitiveKind)


class SensitiveMatch(NamedTuple):
    """Personal data or a secret in a text."""

    kind: SensitiveKind
    start: int
    text: str
    normalized: str
    """The same for every way of writing it: `+1 415 555 2671` is `+14155552671`."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)
