"""K601 and K602: expectations that are empty, or that no agent would ever meet."""

from __future__ import annotations

import re
from collections.abc import Iterator

from carob.datasets.lint.check import Found, Item, path_of
from carob.schema import Case, Dataset

_PLACEHOLDER = re.compile(
    r"\W*(?:t\.?b\.?d\.?|to ?do|fix ?me|x{3,}|\?{2,}|\.{3,}|…|n/?a|none|null|lorem ipsum\b.*"
    r"|(?:the )?(?:expected|correct|reference|golden|sample|example) (?:answer|output|response)"
    r"(?: (?:goes )?here)?|(?:insert|add|write|put|your) .{0,30}here|placeholder)\W*",
    re.IGNORECASE | re.DOTALL,
)
_STEP = re.compile(r"(?:^|(?<=\s))(?:step\s*)?(\d{1,2})[.:)]\s+", re.IGNORECASE)
_STEPS = 8
_TERSE = 4.0
"""Words to a step: real instructions say more about each."""
_GAP = re.compile(r"[\W_]+")


class Expectations:
    rules = ("K601", "K602")

    def see(self, item: Item) -> Iterator[Found]:
        case = item.case
        blank = any(turn.response is not None and not turn.response.strip() for turn in case.turns)
        if not _expects(case):
            message = "an empty answer is expected" if blank else "nothing is expected"
            yield Found("K601", item.place, message, "say what is right: an answer, a tool call")
            return
        for turn in case.turns:
            why = _unrealistic(turn.user or "", turn.response or "")
            if why:
                path = path_of(item.doc, turn.response or "")
                hint = "write what a good colleague would answer"
                yield Found("K602", item.place, why, hint, path)

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        yield from ()


def _expects(case: Case) -> bool:
    """Does the case state anything that a metric could hold a trace against?"""
    whole = (case.tool_calls, case.trajectory, case.state, case.contains)
    return (
        any(part is not None for part in whole)
        or bool(case.contract or case.reference or case.rubrics or case.scenario)
        or bool(case.goal or case.metrics)
        or any((turn.response or "").strip() or turn.rubrics for turn in case.turns)
        or any(turn.tool_calls is not None for turn in case.turns)
    )


def _unrealistic(user: str, response: str) -> str | None:
    if _PLACEHOLDER.fullmatch(response[:2000]):
        return f"the expected answer {response.strip()[:40]!r} is a placeholder"
    asked, answered = _plain(user), _plain(response)
    if answered and asked == answered and " " in asked:
        return "the expected answer repeats the question"
    steps = len(_STEP.findall(response))
    if steps >= _STEPS and len(response.split()) <= steps * (_TERSE + 2):
        return f"the expected answer is a checklist of {steps} steps that say next to nothing"
    return None


def _plain(text: str) -> str:
    return _GAP.sub(" ", text.casefold()).strip()
