"""Compute the probability of each value of a field from the token probabilities of a reply.

Values are not tokens: `10` may be one token or two, and `yes` may come with its quotes. So every
alternative of every token of the value is followed as far as the reply allows: to the only value
that it can become, or along the path that the model took.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecoder
from math import fsum, isfinite
from typing import NamedTuple

from carob.judges.client.parse import InvalidAnswer, find_object
from carob.judges.model import Token

_BEFORE = " \t\r\n\"':▁Ġ"
_AFTER = " \t\r\n\"',}]"
_MAX_AMBIGUOUS = 0.01
"""The share of probability that may belong to more than one value."""
_MIN_WORDS = 0.1
"""The share of probability that words must have to be a choice at all."""


def value_probabilities(
    tokens: Sequence[Token], field: str, values: Sequence[str]
) -> dict[str, float]:
    """Return the probability of each value of a field, with a sum of 1; empty if unknown."""
    text = "".join(token.text for token in tokens)
    span = _span(text, field)
    folded = _fold_values(values)
    if span is None or not folded:
        return {}
    value_tokens = _value_tokens(tokens, *span)
    shares = _ValueShares(folded)
    if not _are_valid(value_tokens) or not shares.follow(value_tokens, "", 1.0):
        return {}
    return shares.normalize(text[slice(*span)])


def word_probabilities(alternatives: Mapping[str, float], words: Sequence[str]) -> dict[str, float]:
    """Return the probability of each word from the first token of a reply. A token counts for the
    only word that starts with it. Empty if hardly any token does."""
    shares = dict.fromkeys(words, 0.0)
    folded = _fold_values(words)
    for text, share in alternatives.items():
        start = text.strip(_BEFORE + _AFTER).casefold()
        candidates = [word for word in folded if word.startswith(start)] if start else []
        if len(candidates) == 1 and isfinite(share) and share > 0:
            shares[folded[candidates[0]]] += share
    total = fsum(shares.values())
    if total < _MIN_WORDS:
        return {}
    return {word: share / total for word, share in shares.items()}


class _ValueToken(NamedTuple):
    """A token of the value, and the number of its characters before the value."""

    token: Token
    before: int


def _fold_values(values: Sequence[str]) -> dict[str, str]:
    """Return the values by their case-folded form; empty if two differ only in case."""
    folded = {value.casefold(): value for value in values}
    return folded if len(folded) == len(values) else {}


def _span(text: str, field: str) -> tuple[int, int] | None:
    """Return where the value of a field starts and ends in a JSON text, without its quotes."""
    span = find_object(text)
    if isinstance(span, InvalidAnswer):
        return None
    for name, start, end in _members(text, span[0] + 1):
        if name == field:
            quoted = text[start] == '"'
            return (start + 1, end - 1) if quoted else (start, end)
    return None


def _members(text: str, position: int) -> Iterator[tuple[str, int, int]]:
    """Yield each name, and where its value starts and ends. The JSON is known to be valid."""
    decoder = JSONDecoder()
    while (position := _skip(text, position, " \t\r\n,")) < len(text) and text[position] == '"':
        name, position = decoder.raw_decode(text, position)
        start = _skip(text, position, " \t\r\n:")
        position = decoder.raw_decode(text, start)[1]
        yield name, start, position


def _skip(text: str, position: int, characters: str) -> int:
    while position < len(text) and text[position] in characters:
        position += 1
    return position


def _value_tokens(tokens: Sequence[Token], start: int, end: int) -> list[_ValueToken]:
    """Return the tokens from the start of the value to the first one after it, which tells where a
    number ends."""
    value_tokens: list[_ValueToken] = []
    position = 0
    for token in tokens:
        after = position + len(token.text)
        if after > start and token.text:
            value_tokens.append(_ValueToken(token, max(start - position, 0)))
        position = after
        if position > end:
            break
    return value_tokens


def _are_valid(tokens: Sequence[_ValueToken]) -> bool:
    shares = [share for item in tokens for share in item.token.alternatives.values()]
    return bool(shares) and all(isfinite(share) and 0 <= share <= 1.001 for share in shares)


class _ValueShares:
    """Adds up the probability of each value along the tokens of a reply."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self._shares = dict.fromkeys(values, 0.0)
        self._ambiguous = 0.0

    def follow(self, tokens: Sequence[_ValueToken], prefix: str, share: float) -> bool:
        """Add the share of each alternative of the first token, after `prefix`. Returns whether the
        probability of the path that the model took is known."""
        if not tokens:
            return False
        first, rest = tokens[0], tokens[1:]
        if first.token.text not in first.token.alternatives:
            return False
        for text, part in first.token.alternatives.items():
            candidates = self._candidates(first, text, prefix)
            if len(candidates) == 1:
                self._shares[candidates[0]] += share * part
            elif candidates and text == first.token.text:
                longer = prefix + text[first.before :].casefold()
                if not self.follow(rest, longer, share * part):
                    return False
            elif candidates:
                self._ambiguous += share * part
        return True

    def _candidates(self, token: _ValueToken, text: str, prefix: str) -> list[str]:
        """Return the values that may start with a token, or the only one that it completes."""
        start = text.casefold() if prefix else text.lstrip(_BEFORE).casefold()
        if not start:  # only quotes or blanks before the value
            return list(self._values) if token.before or text.strip(_BEFORE) else []
        value = start.rstrip(_AFTER)
        if value != start:
            return [prefix + value] if prefix + value in self._values else []
        candidates = [value for value in self._values if value.startswith(prefix + start)]
        if prefix + start in candidates and self._is_complete(token, prefix, candidates):
            return [prefix + start]
        return candidates

    def _is_complete(self, token: _ValueToken, prefix: str, candidates: Sequence[str]) -> bool:
        # Where the model has a token for `10`, its token `1` is the value 1 and not the start of
        # 10. Without this, the share of `1` would always be ambiguous on a scale from 1 to 10.
        longest = max(candidates, key=len)
        texts = token.token.alternatives
        whole = {prefix + text.strip(_BEFORE + _AFTER).casefold() for text in texts}
        return len(candidates) > 1 and longest in whole

    def normalize(self, answered: str) -> dict[str, float]:
        """Return the shares of their sum; empty if too much is ambiguous."""
        total = fsum(self._shares.values())
        if self._ambiguous > _MAX_AMBIGUOUS * (total + self._ambiguous):
            return {}
        if not self._shares.get(answered.casefold()):
            return {}
        return {self._values[value]: share / total for value, share in self._shares.items()}
