"""Decide whether an edit of a text only corrected its wording.

A correction changes spelling, punctuation, white space or casing, and nothing that the text states.
Anything in doubt is not a correction: an unnecessary major version does less harm than results that
look comparable and are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from carob.text.facts.extract import Facts, extract_facts
from carob.text.facts.quantity_patterns import extract_quantities
from carob.text.language import guess_language
from carob.text.misspellings import LANGUAGE, misspellings
from carob.text.tokens import split_words, stem_word
from carob.text.vocabulary import NEGATORS, STOP_WORDS, word_list
from carob.versions.equivalence import normalize_text

_LONGEST = 50_000
"""Characters of a text. A longer one is a document, not an answer."""
_STRUCTURED = re.compile(r"\s*[{\[<]|.*```", re.DOTALL)
_INLINE_CODE = re.compile(r"`[^`]*`")
# Only the outer ends of a word: `!=`, `3.5` and `example.com` contain no punctuation.
_OPENING, _CLOSING = "([\"'«„¿¡", ".,;:!?)]\"'»…。！？、"
_AFTER_DIGIT = ".,;:!?…"
_DASHES = str.maketrans("–—‐‑−", "-----")
_LETTER = r"[^\W\d_]"
_MISSING_SPACE = re.compile(rf"(?<={_LETTER})[,;-](?={_LETTER})|(?<=\d)(?=(?:{_LETTER}|[%°€£¥]))")
_INITIALS = re.compile(rf"\b{_LETTER}\.(?:{_LETTER}\.)*{_LETTER}\b")
_WORD = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)*")
_INNER_CAPITAL = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ]")
_HALVES_OF_DAY = frozenset({"am", "pm"})
_SHORT_WORD = 5
_OTHER_WHEN_CAPITALIZED = word_list("""
aids am august china ihnen ihr ihre ihrem ihren ihrer ihres it march may pole polish sie turkey us
who
""")
"""Words that mean something else with a capital letter, such as `us` and `US`."""
_INTERCHANGEABLE = ("its", "it's")
"""No sentence is correct with both, so one is a typo of the other."""


class _WordToken(NamedTuple):
    text: str
    starts_sentence: bool
    follows_number: bool


def is_correction(old: str, new: str) -> bool:
    """Whether two texts state the same and differ only in spelling, punctuation, white space or
    casing."""
    if max(len(old), len(new)) > _LONGEST or _STRUCTURED.match(old) or _STRUCTURED.match(new):
        return False
    before, after = normalize_text(old), normalize_text(new)
    if _INLINE_CODE.findall(before) != _INLINE_CODE.findall(after):
        return False
    language = guess_language(before, after)
    words, new_words = list(_tokens(_separate(before))), list(_tokens(_separate(after)))
    if not words or len(words) != len(new_words):
        return False
    corrected: set[str] = set()
    for word, new_word in zip(words, new_words, strict=True):
        if word.text == new_word.text or _same_in_other_case(word, new_word):
            continue
        if not _is_misspelling_of(word, new_word, language):
            return False
        corrected |= {word.text.lower(), new_word.text.lower()}
    return _state_the_same(before, after, language, corrected)


def _separate(text: str) -> str:
    """The text with a space between words that punctuation or nothing separates, as in `5kg`."""
    text = _INITIALS.sub(lambda match: match[0].replace(".", ""), text.translate(_DASHES))
    return _MISSING_SPACE.sub(" ", text)


def _tokens(text: str) -> Iterator[_WordToken]:
    """The words of a text without the punctuation around them, and each doubled word once."""
    chunks = text.split(" ")
    previous = _WordToken("", True, False)
    starts = True
    for index, chunk in enumerate(chunks):
        stripped = _strip_punctuation(chunk)
        if stripped == "-" and not any(map(_has_digit, chunks[max(0, index - 1) : index + 2])):
            stripped = ""  # between words, a dash is punctuation; `5 - 3` is not `5 3`
        if stripped:
            token = _WordToken(stripped, starts, _has_digit(previous.text))
            if not _is_doubled(previous.text, stripped):
                yield token
            previous, starts = token, False
        starts = starts or chunk.rstrip("\"')»")[-1:] in (".", "!", "?", ":", "…")


def _strip_punctuation(chunk: str) -> str:
    stripped = chunk.lstrip(_OPENING).rstrip(_CLOSING)
    if _has_digit(stripped[:1] + stripped[-1:]):  # `(5)` is negative in a balance, `6'` are feet
        return chunk.rstrip(_AFTER_DIGIT)
    return stripped


def _has_digit(text: str) -> bool:
    return any(char.isdigit() for char in text)


def _is_doubled(previous: str, word: str) -> bool:
    """Whether a word such as `the` follows itself. `Bora Bora` and `no no` are no typos."""
    return previous in (word, word.capitalize()) and word in STOP_WORDS and word not in NEGATORS


def _same_in_other_case(old: _WordToken, new: _WordToken) -> bool:
    one, other = old.text, new.text
    # Not `casefold`, which takes `Maße` for `Masse`.
    if one.lower() != other.lower() or not (_WORD.fullmatch(one) and _WORD.fullmatch(other)):
        return False  # a code, an address or a name of a variable
    if _INNER_CAPITAL.search(one) or _INNER_CAPITAL.search(other):
        return False
    if old.follows_number and len(one) <= 2:  # `5 mW` and `5 MW`
        return one.lower() in _HALVES_OF_DAY
    if old.starts_sentence or new.starts_sentence:
        return True
    return one.lower() not in _OTHER_WHEN_CAPITALIZED


def _is_misspelling_of(old: _WordToken, new: _WordToken, language: str) -> bool:
    """Whether one of the words is a misspelling, and the other its only correction."""
    if {old.text.lower(), new.text.lower()} == {*_INTERCHANGEABLE}:
        return True
    return _corrects(old, new, language) or _corrects(new, old, language)


def _corrects(wrong: _WordToken, right: _WordToken, language: str) -> bool:
    word, correction = wrong.text.lower(), misspellings().get(wrong.text.lower())
    if correction is None or correction.lower() != right.text.lower():
        return False
    if language != LANGUAGE and (language or len(word) < _SHORT_WORD):
        return False  # `als` is a misspelling of `also` in English, and a word in German
    # The engine reads `didnt` as an affirmation, so results would not be comparable.
    if NEGATORS.intersection(split_words(right.text)) or "n't" in right.text:
        return False
    is_name = wrong.text[0].isupper() and not wrong.starts_sentence
    return not is_name or correction[0].isupper()


def _state_the_same(old: str, new: str, language: str, corrected: set[str]) -> bool:
    """Whether the facts are the same but for corrected words.

    Punctuation can change them: `No, refunds are possible` and `No refunds are possible`.
    """
    quantities = extract_quantities(old, language).quantities
    new_quantities = extract_quantities(new, language).quantities
    if [each.readings for each in quantities] != [each.readings for each in new_quantities]:
        return False
    before = extract_facts(_separate(old), language)
    after = extract_facts(_separate(new), language)
    stems = {stem_word(part) for word in corrected for part in split_words(word)}
    return _polarity(before, stems, corrected) == _polarity(after, stems, corrected)


def _polarity(facts: Facts, stems: set[str], corrected: set[str]) -> object:
    sides = [(each.pair, each.side) for each in facts.positions if each.word not in corrected]
    return facts.affirmed - stems, facts.denied - stems, sides
