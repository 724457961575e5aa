"""What looks like an attempt to steer a judge from within the material.

It only flags: the fence keeps the judge's instructions apart from the material, and a score is
never changed because of a flag. Phrases are found as they are read, whatever letters they are
written with; how well is measured by the labelled texts in the tests.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

from carob.judges.rubrics.injection_patterns import ANSWER_KEYS, DECIDING, elsewhere, english

_MOST = 5
"""Attempts of one text that are told."""
_WIDTH = 80
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Characters that are not shown, each of which stands for one of ASCII."""
_LOOKALIKES = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухѕіјԁԛԝһӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεινορτυχϲıɡ",
    "ABEKMHOPCTYXSIJaeopcyxsijdqwhlABEZHIKMNOPTYXaeivoptuxcig",
)
_OBJECT = re.compile(r"\{[^{}]{1,4000}\}")
_KEY = re.compile(r"""["'](\w{1,40})["']\s*:""")
_SPACED = re.compile(r"\b(?:[a-z][ .\-_*]){4,}[a-z]\b", re.IGNORECASE)


@lru_cache(maxsize=256)  # several judges look at the same conversation
def attempts(text: str) -> tuple[str, ...]:
    """Quotations of what looks like an attempt, in the order of the text."""
    seen = plain(text)
    read = _closed_up(seen.translate(_LOOKALIKES))
    found = [*_phrases(english(), read), *_phrases(elsewhere(), seen), *_answers(read)]
    quoted = dict.fromkeys(_cut(quotation) for _, quotation in sorted(found))
    return tuple(quoted)[:_MOST]


def _phrases(phrases: Iterable[re.Pattern[str]], text: str) -> Iterator[tuple[int, str]]:
    small = text.lower()
    shown = text if len(small) == len(text) else small  # a few letters become two
    for one in phrases:
        for match in one.finditer(small):
            yield match.start(), shown[match.start() : match.end()]


def plain(text: str) -> str:
    """The text as it reads: compatible forms made the same, and nothing that is not shown."""
    if text.isascii():
        return text
    told = unicodedata.normalize("NFKC", text.translate(_TAGS))
    return "".join(one for one in told if one.isascii() or unicodedata.category(one) != "Cf")


def _closed_up(text: str) -> str:
    """`i g n o r e` is a word."""
    return _SPACED.sub(lambda match: re.sub(r"[ .\-_*]", "", match.group()), text)


def _answers(text: str) -> Iterator[tuple[int, str]]:
    """Objects that have the keys of a judge's answer, and no others."""
    for match in _OBJECT.finditer(text.replace('\\"', '"')):
        keys = {key.lower() for key in _KEY.findall(match.group())}
        if keys & DECIDING and keys <= ANSWER_KEYS:
            yield match.start(), match.group()


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"
