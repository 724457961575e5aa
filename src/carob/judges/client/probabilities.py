"""How probable each value of a field was, from the tokens of a reply.

A value is not a token: `10` may be one token or two, and `yes` may come with its quotes. So each
alternative of each token that the value is made of is followed as far as the reply tells: to the
one value that it must become, or along the way that the model took.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecoder
from math import fsum, isfinite
from typing import NamedTuple

from carob.judges.client.validity import Invalid, only_object
from carob.judges.model import Token

_BEFORE = " \t\r\n\"':▁Ġ"
_AFTER = " \t\r\n\"',}]"
_DOUBT = 0.01
"""The share of probability that may be of unknown meaning."""


def probabilities(tokens: Sequence[Token], field: str, values: Sequence[str]) -> dict[str, float]:
    """Of each of the values, with the sum of 1; empty if it cannot be told."""
    text = "".join(token.text for token in tokens)
    span = _span(text, field)
    folded = _folded(values)
    if span is None or not folded:
        return {}
    pieces = _pieces(tokens, *span)
    found = _Shares(folded)
    if not _sound(pieces) or not found.follow(pieces, "", 1.0):
        return {}
    return found.normalised(text[slice(*span)])


def chosen(alternatives: Mapping[str, float], words: Sequence[str]) -> dict[str, float]:
    """Of each of the words, from the first token of a reply: a token stands for the one word that
    it begins. Empty if hardly any does."""
    shares = dict.fromkeys(words, 0.0)
    folded = _folded(words)
    for text, share in alternatives.items():
        start = text.strip(_BEFORE + _AFTER).casefold()
        meant = [word for word in folded if word.startswith(start)] if start else []
        if len(meant) == 1 and isfinite(share) and share > 0:
            shares[folded[meant[0]]] += share
    total = fsum(shares.values())
    return {word: share / total for word, share in shares.items()} if total >= 0.1 else {}


class _Piece(NamedTuple):
    """A token, and how much of it stands before the value."""

    token: Token
    before: int


def _folded(values: Sequence[str]) -> dict[str, str]:
    """The values by how they are compared. Case does not matter, unless there are two that differ
    in nothing else."""
    made = {value.casefold(): value for value in values}
    return made if len(made) == len(values) else {}


def _span(text: str, field: str) -> tuple[int, int] | None:
    """Where the value of a field stands in a JSON text, without its quotes."""
    found = only_object(text)
    if isinstance(found, Invalid):
        return None
    for name, start, end in _members(text, found[0] + 1):
        if name == field:
            quoted = text[start] == '"'
            return (start + 1, end - 1) if quoted else (start, end)
    return None


def _members(text: str, place: int) -> Iterator[tuple[str, int, int]]:
    """Names and where their values begin and end; the text is known to be sound."""
    decoder = JSONDecoder()
    while (place := _skip(text, place, " \t\r\n,")) < len(text) and text[place] == '"':
        name, place = decoder.raw_decode(text, place)
        start = _skip(text, place, " \t\r\n:")
        place = decoder.raw_decode(text, start)[1]
        yield name, start, place


def _skip(text: str, place: int, blanks: str) -> int:
    while place < len(text) and text[place] in blanks:
        place += 1
    return place


def _pieces(tokens: Sequence[Token], start: int, end: int) -> list[_Piece]:
    """The tokens from the one in which the value begins to the one after it, which says where a
    number ends."""
    made: list[_Piece] = []
    place = 0
    for token in tokens:
        after = place + len(token.text)
        if after > start and token.text:
            made.append(_Piece(token, max(start - place, 0)))
        place = after
        if place > end:
            break
    return made


def _sound(pieces: Sequence[_Piece]) -> bool:
    shares = [share for piece in pieces for share in piece.token.alternatives.values()]
    return bool(shares) and all(isfinite(one) and 0 <= one <= 1.001 for one in shares)


class _Shares:
    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._shares = dict.fromkeys(values, 0.0)
        self._doubt = 0.0

    def follow(self, pieces: Sequence[_Piece], done: str, share: float) -> bool:
        """Add what each alternative of the first piece stands for, after `done`. Is it known how
        probable the way was that the model took?"""
        if not pieces:
            return False
        piece, rest = pieces[0], pieces[1:]
        if piece.token.text not in piece.token.alternatives:
            return False
        for text, part in piece.token.alternatives.items():
            meant = self._meant(piece, text, done)
            if len(meant) == 1:
                self._shares[meant[0]] += share * part
            elif meant and text == piece.token.text:
                taken = done + text[piece.before :].casefold()
                if not self.follow(rest, taken, share * part):
                    return False
            elif meant:
                self._doubt += share * part
        return True

    def _meant(self, piece: _Piece, text: str, done: str) -> list[str]:
        """The values that a token may be the beginning of, or the one that it ends."""
        start = text.casefold() if done else text.lstrip(_BEFORE).casefold()
        if not start:  # only what stands before a value, unless there was nothing before it
            return list(self._values) if piece.before or text.strip(_BEFORE) else []
        whole = start.rstrip(_AFTER)
        if whole != start:
            return [done + whole] if done + whole in self._values else []
        fitting = [value for value in self._values if value.startswith(done + start)]
        if done + start in fitting and self._is_token(piece, done, fitting):
            return [done + start]
        return fitting

    def _is_token(self, piece: _Piece, done: str, fitting: Sequence[str]) -> bool:
        """Where `10` is a token, `1` is not the beginning of it."""
        longest = max(fitting, key=len)
        tokens = piece.token.alternatives
        whole = {done + text.strip(_BEFORE + _AFTER).casefold() for text in tokens}
        return len(fitting) > 1 and longest in whole

    def normalised(self, answered: str) -> dict[str, float]:
        """The shares of their sum; none if too much is in doubt."""
        total = fsum(self._shares.values())
        if self._doubt > _DOUBT * (total + self._doubt):
            return {}
        if not self._shares.get(answered.casefold()):
            return {}
        return {self._values[one]: share / total for one, share in self._shares.items()}
