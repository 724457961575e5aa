"""C701: known misspellings, from the word list of codespell, which covers English.

Only words with exactly one correction count, and only in English texts: `Modell` is misspelled in
English, and a word in German. User messages are not checked, because golden data may contain
misspellings on purpose.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from carob.datasets.lint.rules import (
    LintItem,
    LintOptions,
    RuleFamily,
    Violation,
    not_checked,
    path_of,
)
from carob.schema import Case, Dataset, LintRule
from carob.text.language import guess_language
from carob.text.misspellings import LANGUAGE, misspellings

TYPO = LintRule(
    id="C701",
    name="typo",
    level="warning",
    summary="An expected text contains a known misspelling.",
)

# Words in lower case or capitalized; not parts of addresses, paths or identifiers.
_WORD = re.compile(
    r"(?<![\w@./:-])[a-z]{4,}(?![\w@/:-]|\.\w)|(?<![\w@./:-])[A-Z][a-z]{3,}(?![\w@/:-]|\.\w)"
)
_PER_CASE = 5
_LANGUAGE_SAMPLE = 200
"""Cases without typos whose language is guessed, which takes longer than looking for typos."""
_MOST = 0.9
"""The share of cases from which a language is that of the whole dataset."""


class Typos(RuleFamily):
    """Misspellings in expected answers and contexts, in the language of the word list."""

    rules = (TYPO,)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._languages: Counter[str] = Counter()
        # A text such as `Parcel recieved.` is too short to tell its language by: it is probably in
        # the language of the other cases, which is known at the end.
        self._pending: list[Violation] = []

    def visit(self, item: LintItem) -> Iterator[Violation]:
        texts = [*_texts_to_check(item.case)]
        typos = {text: [*_find_typos(item, text)] for text in texts}
        messages = [turn.user for turn in item.case.turns if turn.user]
        if not any(typos.values()) and self._languages.total() >= _LANGUAGE_SAMPLE:
            return
        whole = guess_language(*texts, *messages)
        self._languages[whole] += 1
        violations: list[Violation] = []
        for text in texts:
            language = guess_language(text) or whole
            if language == LANGUAGE:
                violations += typos[text]
            elif not language and text.isascii():
                self._pending += typos[text]
        yield from violations[:_PER_CASE]

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        known = self._languages.total() - self._languages[""]
        if known and self._languages[LANGUAGE] >= _MOST * known:
            yield from self._pending
        if not misspellings():
            yield not_checked("typos", "codespell", extra="typos")


def _find_typos(item: LintItem, text: str) -> Iterator[Violation]:
    corrections = misspellings()
    for match in _WORD.finditer(text):
        correction = corrections.get(match[0].lower())
        if correction:
            message, hint = f"misspelled word {match[0]!r}", f"write {correction!r}"
            yield Violation(TYPO, item.location, message, hint, path_of(item.doc, text))


def _texts_to_check(case: Case) -> Iterator[str]:
    yield from (turn.response for turn in case.turns if turn.response)
    yield from (text for text in (case.context, case.goal, case.relevant_context) if text)
