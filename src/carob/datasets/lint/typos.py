"""C701: known misspellings, from the word list of codespell.

Only words with exactly one correction count. User messages are not checked, because golden data may
contain misspellings on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from carob.datasets.lint.rules import (
    NOT_CHECKED,
    WHOLE_DATASET,
    LintItem,
    RuleFamily,
    Violation,
    path_of,
)
from carob.errors import install_hint
from carob.schema import Case, Dataset, LintRule

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


class Typos(RuleFamily):
    """Misspellings in expected answers and contexts."""

    rules = (TYPO,)

    def visit(self, item: LintItem) -> Iterator[Violation]:
        corrections = misspellings()
        count = 0
        for text in _texts_to_check(item.case):
            for match in _WORD.finditer(text):
                correction = corrections.get(match[0].lower())
                if correction and count < _PER_CASE:
                    count += 1
                    yield Violation(
                        TYPO,
                        item.location,
                        f"misspelled word {match[0]!r}",
                        f"write {correction!r}",
                        path_of(item.doc, text),
                    )

    def finish(self, header: Dataset, cases: int) -> Iterable[Violation]:
        if misspellings():
            return ()
        message = "typos were not checked: the package 'codespell' is not installed"
        return [Violation(NOT_CHECKED, WHOLE_DATASET, message, install_hint("typos"))]


def _texts_to_check(case: Case) -> Iterator[str]:
    yield from (turn.response for turn in case.turns if turn.response)
    yield from (text for text in (case.context, case.goal, case.relevant_context) if text)


@cache
def misspellings() -> dict[str, str]:
    """Misspelled words and their corrections; empty if codespell is not installed."""
    spec = find_spec("codespell_lib")
    if spec is None or spec.origin is None:
        return {}
    file = Path(spec.origin).parent / "data" / "dictionary.txt"
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError:
        return {}
    # A comma separates alternatives, or a note on why the word may be right.
    pairs = (line.partition("->") for line in lines if "," not in line)
    return {wrong.strip(): right.strip() for wrong, _, right in pairs if right.strip()}
