from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Kind = Literal["email", "phone", "card", "iban", "national-id", "secret"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class Piece(NamedTuple):
    """A piece of text that should not be told."""

    kind: Kind
    start: int
    text: str
    same: str
    """What it is regardless of how it is written: `+1 415 555 2671` is `+14155552671`."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)
