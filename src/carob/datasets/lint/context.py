"""K603: an answer that cannot come from the context that is given for it.

Numbers must be there, and some of the words. A case whose agent has tools may get its answer from
them, and a context of a few words is a label: neither is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.datasets.lint.check import Found, Item, path_of
from carob.schema import Case, Dataset

_WORD = re.compile(r"[^\W\d_]{4,}")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_IN_WORDS = {word: str(number) for number, word in enumerate(_TO_TWELVE.split(), 1)}
_LABEL = 6
"""Words of a context that only names where the answer is."""
_STEM = 5
_FEWEST = 0.15
"""Share of the answer's words; a good answer has many words of its own."""
_LONG_ENOUGH = 8


class UnsupportedAnswers:
    rules = ("K603",)

    def see(self, item: Item) -> Iterator[Found]:
        case = item.case
        given = case.context
        if given is None or len(given.split()) < _LABEL or _has_tools(case):
            return
        for turn in case.turns:
            known = f"{given}\n{case.relevant_context or ''}\n{turn.user or ''}"
            why = _unsupported(turn.response or "", known)
            if why:
                hint = "give the part of the source that the answer comes from"
                yield Found("K603", item.place, why, hint, path_of(item.doc, given))

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        yield from ()


def _has_tools(case: Case) -> bool:
    return bool(case.tools or case.tool_calls or any(turn.tool_calls for turn in case.turns))


def _unsupported(answer: str, known: str) -> str | None:
    numbers = {*_NUMBER.findall(known)}
    numbers |= {_IN_WORDS[word] for word in known.lower().split() if word in _IN_WORDS}
    absent = [number for number in _NUMBER.findall(answer) if number not in numbers]
    if absent:
        shown = ", ".join(_short(number) for number in dict.fromkeys(absent[:5]))
        return f"the context does not contain {shown}, which the expected answer says"
    words = {word[:_STEM] for word in _WORD.findall(answer.casefold())}
    stems = {word[:_STEM] for word in _WORD.findall(known.casefold())}
    if len(words) >= _LONG_ENOUGH and len(words & stems) < _FEWEST * len(words):
        return "the context and the expected answer have next to no words in common"
    return None


def _short(number: str) -> str:
    """A long number may be somebody's."""
    return number if len(number) <= 6 else f"{number[:2]}…{number[-2:]}"
