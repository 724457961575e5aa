"""Group failed cases by what went wrong, so that a reader sees causes before cases.

The signature of a case are the steps of its edit script without values: *missing call
check_warranty*, *wrong argument book_repair.slot*. Scores keep the script as the text of their
reason, in the two spellings that the tool metrics write; a case whose reasons contain no step is
grouped by the metrics that it did not pass. No model is asked, and the order of cases does not
matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from carob.schema import CaseResult, CaseScore
from carob.schema.causes import Cause, CauseGroup, CauseKind

_EXAMPLES = 5
_MAX_REASON = 20_000
_NAME = r"[^\s()'\",:;=]+"
_TURN = re.compile(r"^turn \d+: ")
_STEP = re.compile(
    r"; (?=turn \d+: )|; (?=(?:matched|missing|unexpected) )|; (?=wrong argument in )|\n"
)
_PLAIN = re.compile(rf"(missing|unexpected) ({_NAME})(?:\(|$|;| \()")
_WRONG = re.compile(rf"wrong argument in ({_NAME}): (.*)", re.DOTALL)
_DIFFERENT = re.compile(rf"({_NAME}): (?={_NAME}: (?:expected|unexpected) )(.*)", re.DOTALL)
_ARGUMENT = re.compile(rf"(?:^|[;,] )({_NAME}): (?:expected|unexpected|missing) ")
_EXPECTED = re.compile(r"expected (.*?), got (.*)", re.DOTALL)
_CALL = re.compile(rf"(?:^|(?<=\), )|(?<=[^=]\b, ))({_NAME})(?:\(|(?=, |$))")
_SCRIPTS = frozenset({"tool_usage_accuracy", "tool_trajectory_avg_score"})
"""The metrics that write edit scripts. Of others, `missing Paris` is no call of a tool."""
_TURN_KINDS: dict[str, CauseKind] = {
    "the turn is missing": "missing turn",
    "the turn is not expected": "unexpected turn",
}


def find_causes(result: CaseResult) -> tuple[Cause, ...]:
    """Return what went wrong in a case, without duplicates; empty if nothing did."""
    scores = [score for score in result.scores if _is_held_back(score)]
    steps = [step for score in scores for step in _script_causes(score)]
    return tuple(dict.fromkeys(steps or map(_metric_cause, scores)))


def group_causes(cases: Iterable[CaseResult]) -> tuple[CauseGroup, ...]:
    """Group the cases that did not pass by cause, the most frequent cause first. A case with
    several causes counts for each of them."""
    failed = (result for result in cases if result.status not in ("passed", "info"))
    return count_causes(
        (result.case or result.trace or "", find_causes(result)) for result in failed
    )


def count_causes(cases: Iterable[tuple[str, Sequence[Cause]]]) -> tuple[CauseGroup, ...]:
    """Group the names of cases by their causes, the most frequent cause first."""
    counts: Counter[Cause] = Counter()
    examples: dict[Cause, list[str]] = {}
    for name, causes in cases:
        for cause in causes:
            counts[cause] += 1
            names = examples.setdefault(cause, [])
            if len(names) < _EXAMPLES:
                names.append(name)
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], _rank(pair[0]), pair[0].subject))
    return tuple(CauseGroup(cause, number, tuple(examples[cause])) for cause, number in ordered)


def describe_cause(cause: Cause) -> str:
    """Say in words what a cause is, without its subject."""
    return _WORDS[cause.kind]


_WORDS: dict[CauseKind, str] = {
    "missing call": "tool not called",
    "unexpected call": "call not expected",
    "wrong argument": "tool argument differs",
    "missing turn": "turn missing",
    "unexpected turn": "turn not expected",
    "low score": "score below the threshold",
    "not scored": "could not be scored",
    "error": "metric broke",
}


def _rank(cause: Cause) -> int:
    return list(_WORDS).index(cause.kind)


def _is_held_back(score: CaseScore) -> bool:
    return score.status in ("failed", "error") or score.could_not_be_scored


def _metric_cause(score: CaseScore) -> Cause:
    kinds: dict[str, CauseKind] = {"failed": "low score", "error": "error"}
    return Cause(kinds.get(score.status, "not scored"), score.metric)


def _script_causes(score: CaseScore) -> Iterator[Cause]:
    if score.status != "failed":
        return
    for step in _STEP.split(score.reason[:_MAX_REASON]):
        text = _TURN.sub("", step)
        if text in _TURN_KINDS:
            yield Cause(_TURN_KINDS[text], score.metric)
        elif score.metric in _SCRIPTS:
            yield from _step_causes(text)


def _step_causes(step: str) -> Iterator[Cause]:
    if plain := _PLAIN.match(step):
        kind: CauseKind = "missing call" if plain[1] == "missing" else "unexpected call"
        yield Cause(kind, plain[2])
    elif differs := _WRONG.match(step) or _DIFFERENT.match(step):
        yield from _arguments(differs[1], differs[2])
    elif both := _EXPECTED.fullmatch(step):
        yield from _call_differences(_CALL.findall(both[1]), _CALL.findall(both[2]))


def _arguments(tool: str, text: str) -> Iterator[Cause]:
    names = dict.fromkeys(_ARGUMENT.findall(text))
    yield from (Cause("wrong argument", f"{tool}.{name}") for name in names)
    if not names:
        yield Cause("wrong argument", tool)


def _call_differences(expected: Sequence[str], actual: Sequence[str]) -> Iterator[Cause]:
    """Compare tool names as multisets; the order of calls is a cause of its own only if nothing
    else differs."""
    missing, extra = Counter(expected) - Counter(actual), Counter(actual) - Counter(expected)
    yield from (Cause("missing call", name) for name in missing)
    yield from (Cause("unexpected call", name) for name in extra)
    if not missing and not extra and expected:
        yield Cause("wrong argument", expected[0])
