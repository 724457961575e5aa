"""One failure as a regression case: cut after the earliest turn in which the agent went wrong,
personal data masked, with its lineage, and compared with what the dataset has already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from carob.api.views.case import TurnView, align_turns
from carob.datasets.masking import Masks, mask_case
from carob.schema import Case, CaseResult, Json, Trace, Turn, content_id
from carob.versions.review import STATUS


class FailedCase(NamedTuple):
    """A result that failed, the golden case it was scored against, and its trace if saved."""

    result: CaseResult
    golden: Case | None
    trace: Trace | None


class MaskedRegression(NamedTuple):
    """A regression case as it would be written."""

    case: Case
    is_masked: bool
    """Whether personal data or secrets were replaced."""
    duplicate: str | None
    """The id of a known case with the same messages."""


UNKNOWN_MESSAGES = "what the user said is not known; the failure cannot become a case"
KEEP_TRACES_HINT = "`carob run --keep-traces` saves the traces with a run"


class Divergence(NamedTuple):
    """The earliest turn in which an agent differs from what was expected, and how."""

    turn: int
    what: str


def find_divergence(failure: FailedCase) -> Divergence:
    """Find the earliest turn that differs: by its tool calls, by the score of the turn, or by the
    answer. If none is known to differ, it is the last one."""
    views = list(align_turns(failure.golden, failure.trace, failure.result))
    candidates = [*_differing_calls(views), *_failing_scores(failure.result, len(views))]
    if not candidates:
        candidates = list(_differing_answers(views))
    return min(candidates, default=Divergence(max(len(views) - 1, 0), "not located"))


def _differing_calls(views: Sequence[TurnView]) -> Iterator[Divergence]:
    for index, view in enumerate(views):
        step = next((step for step in view.script or () if step.kind != "keep"), None)
        call = step and (step.expected or step.actual)
        if step and call:
            kind = "changed" if step.kind == "change" else step.kind
            yield Divergence(index, f"{kind} call of {call.name}")


def _failing_scores(result: CaseResult, turns: int) -> Iterator[Divergence]:
    for score in result.scores:
        if score.status != "failed" or score.threshold is None:
            continue
        for index, value in enumerate(score.turns[:turns]):
            if value is not None and value < score.threshold:
                yield Divergence(index, f"{score.metric} {value:g} < {score.threshold:g}")
                break


def _differing_answers(views: Sequence[TurnView]) -> Iterator[Divergence]:
    for index, view in enumerate(views):
        expected = view.expected.response if view.expected else None
        actual = view.actual.response if view.actual else None
        if expected is not None and expected != actual:
            yield Divergence(index, "another answer")


def regression_case(
    failure: FailedCase, run: str | None, *, divergence: Divergence | None = None
) -> Case | None:
    """Return the case up to the divergence; `None` if what the user said is not known. `run` is the
    run that failed; without one, `failure` is a session."""
    result, golden, trace = failure
    divergence = divergence or find_divergence(failure)
    if golden is not None:
        whole = msgspec.structs.replace(golden, origin=None, recorded=None)
    else:
        source = trace.turns if trace else [Turn(user=turn.user) for turn in result.exchanges]
        whole = Case(id="", turns=tuple(Turn(user=turn.user) for turn in source))
    turns = whole.turns[: divergence.turn + 1]
    if not turns or any(turn.user is None for turn in turns):
        return None
    if len(turns) < len(whole.turns):
        # What was expected at the end, or of the whole, is not known for a part.
        whole = msgspec.structs.replace(
            whole,
            tool_calls=None,
            trajectory=None,
            state=None,
            contains=None,
            contract=None,
            goal=None,
            reference={},
            rubrics=(),
        )
    users = [turn.user or "" for turn in turns]
    digest = blake2b("\0".join(users).encode(), digest_size=3).hexdigest()
    base = result.case or content_id(*users)
    return msgspec.structs.replace(
        whole,
        id=f"{base}-regression-{digest}",
        turns=turns,
        metadata=_lineage(failure, run, divergence),
        created_at=None,
        updated_at=None,
    )


def _lineage(failure: FailedCase, run: str | None, divergence: Divergence) -> dict[str, Json]:
    result = failure.result
    failed = [score.metric for score in result.scores if score.status == "failed"]
    lineage: dict[str, Json] = {
        "source": "failed run" if run else "failed session",
        "run": run,
        "session_id": None if run else result.trace,
        "trace_id": result.trace,
        "parent": result.case,
        "divergence": f"turn {divergence.turn + 1}: {divergence.what}",
        "failed_metrics": ", ".join(failed),
        STATUS: "draft",
    }
    return {key: value for key, value in lineage.items() if value}


def user_inputs(case: Case) -> tuple[str | None, ...]:
    """Return what the user says, which tells whether two cases are the same."""
    return (case.context, *(turn.user for turn in case.turns))


def index_inputs(cases: Iterable[Case]) -> dict[tuple[str | None, ...], str]:
    """Return the ids of cases by what the user says in them."""
    return {user_inputs(case): case.id for case in cases}


def mask_regression(
    failure: FailedCase,
    run: str | None,
    known: Mapping[tuple[str | None, ...], str],
    masks: Masks,
    divergence: Divergence | None = None,
) -> MaskedRegression | None:
    """Return the masked regression case of a failure, compared with the `known` cases; `None` if
    what the user said is not known."""
    case = regression_case(failure, run, divergence=divergence)
    if case is None:
        return None
    masked = mask_case(case, masks)
    # The dataset may contain what is masked here, and an earlier capture what was masked then.
    forms = (user_inputs(case), user_inputs(masked))
    duplicate = next((known[inputs] for inputs in forms if inputs in known), None)
    is_masked = masked.turns != case.turns or masked.context != case.context
    return MaskedRegression(masked, is_masked, duplicate)
