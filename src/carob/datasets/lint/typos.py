"""K701: known misspellings, by the word list of codespell.

Only words with exactly one correction count, and only what is expected is read: users misspell, and
golden data may want them to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from carob.datasets.lint.check import WHOLE, Found, Item, path_of
from carob.schema import Case, Dataset

_WORD = re.compile(
    r"(?<![\w@./:-])[a-z]{4,}(?![\w@/:-]|\.\w)|(?<![\w@./:-])[A-Z][a-z]{3,}(?![\w@/:-]|\.\w)"
)
_PER_CASE = 5


class Typos:
    rules = ("K701", "K001")

    def see(self, item: Item) -> Iterator[Found]:
        words = misspellings()
        found = 0
        for text in _expected(item.case):
            for match in _WORD.finditer(text):
                right = words.get(match[0].lower())
                if right and found < _PER_CASE:
                    found += 1
                    yield Found(
                        "K701",
                        item.place,
                        f"{match[0]!r} is a misspelling",
                        f"write {right!r}",
                        path_of(item.doc, text),
                    )

    def end(self, head: Dataset, cases: int) -> Iterable[Found]:
        if misspellings():
            return ()
        message = "typos were not looked for: the package 'codespell' is not installed"
        return [Found("K001", WHOLE, message, 'pip install "carob[typos]"')]


def _expected(case: Case) -> Iterator[str]:
    yield from (turn.response for turn in case.turns if turn.response)
    yield from (text for text in (case.context, case.goal, case.relevant_context) if text)


@cache
def misspellings() -> dict[str, str]:
    """Wrong words with the right ones; none if codespell is not installed."""
    spec = find_spec("codespell_lib")
    if spec is None or spec.origin is None:
        return {}
    file = Path(spec.origin).parent / "data" / "dictionary.txt"
    try:
        lines = file.read_text("utf-8").splitlines()
    except OSError:
        return {}
    pairs = (line.partition("->") for line in lines if "," not in line)
    return {wrong.strip(): right.strip() for wrong, _, right in pairs if right.strip()}
