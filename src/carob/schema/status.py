"""The status of a case, from its scores. Runs, policies and comparisons all decide with this."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from carob.schema.run import CaseCounts, CaseScore, ProfileVerdict, Status


def case_counts(statuses: Mapping[Status, int]) -> CaseCounts:
    """Return the numbers of cases from how often each status occurs."""
    return CaseCounts(
        total=sum(statuses.values()),
        passed=statuses.get("passed", 0),
        failed=statuses.get("failed", 0),
        unscored=statuses.get("unscored", 0),
        errors=statuses.get("error", 0),
    )


def case_status(
    scores: Iterable[CaseScore],
    judgement: ProfileVerdict | None = None,
    weighs: Callable[[str], bool] | None = None,
) -> Status:
    """Return the status that the deciding scores give a case.

    Scores with a threshold decide. With a profile, the scores that it `weighs` decide through its
    `judgement`, which is `None` if none of them has a number. Informational scores decide nothing,
    however many there are: otherwise adding `latency` would pass a case that no judge looked at.
    """
    asked = weighs is not None
    passed = judgement is not None and judgement.passed
    failed = judgement is not None and not judgement.passed
    error = held_back = False
    for score in scores:
        if score.status == "error":
            error = True
        elif weighs is not None and weighs(score.metric):
            held_back = held_back or score.could_not_be_scored
        elif score.threshold is not None:
            asked = True
            passed = passed or score.status == "passed"
            failed = failed or score.status == "failed"
            held_back = held_back or score.could_not_be_scored
    if failed:
        return "failed"
    if error:  # the broken metric might have failed the case
        return "error"
    if held_back:
        return "unscored"
    if passed:
        return "passed"
    return "unscored" if asked else "info"
