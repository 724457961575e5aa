"""Are the judges of a run calibrated? One check for each judge that decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.errors import UsageError
from carob.schema import Calibration, Check, GateRules, Json, MetricUse, Run

MIN_KAPPA = 0.4
"""What the lower end of kappa must reach; docs/design/calibration.md says why."""
_LONGEST = 40


def reached(made: Calibration, least: float) -> bool:
    """Does the judge agree with people well enough, however unlucky the choice of cases was?"""
    kappa = made.agreement.kappa
    return kappa is not None and kappa.interval[0] >= least


def deciding(run: Run, rules: GateRules) -> list[MetricUse]:
    """The judges on which something depends: a threshold, a rule of the gate, or a profile, which
    weighs scores whether they have a threshold or not."""
    weighed = any(one.judgement for one in run.cases)
    held = {*rules.metrics, *rules.thresholds}
    return [
        use
        for use in run.metrics
        if use.judge and (weighed or use.threshold is not None or use.name in held)
    ]


def calibration_checks(run: Run, rules: GateRules, found: Sequence[Calibration]) -> Iterator[Check]:
    """Hold each of them to the first calibration that is bound to it."""
    least = MIN_KAPPA if rules.min_kappa is None else rules.min_kappa
    if not -1 <= least <= 1:
        raise UsageError(f"the least kappa is {least:g}, expected a number from -1 to 1")
    uses = deciding(run, rules)
    if not uses:
        yield Check("calibration", "passed", "no judge decides, so that none must be calibrated")
    for use in uses:
        known = [one for one in found if one.metric.name == use.name]
        yield _check(use, known, least)


def _check(use: MetricUse, known: Sequence[Calibration], least: float) -> Check:
    name = f"calibration of {use.name}"
    if not known:
        message = "it was never compared with people: see `carob calibrate`"
        return Check(name, "failed", message)
    moved = [[*_moved(one, use)] for one in known]
    place = min(range(len(known)), key=lambda index: len(moved[index]))
    if moved[place]:
        return Check(name, "failed", f"{', '.join(moved[place])}: calibrate again")
    nearest = known[place]
    status = "passed" if reached(nearest, least) else "failed"
    return Check(name, status, f"{_told(nearest)}, expected its lower end to be at least {least:g}")


def _told(made: Calibration) -> str:
    kappa = made.agreement.kappa
    cases = f"{made.agreement.cases:,} case{'' if made.agreement.cases == 1 else 's'}"
    if kappa is None:
        return f"kappa is not defined, as people gave all of {cases} the same label"
    low, high = kappa.interval
    return f"kappa {kappa.value:.2f} over {cases}, 95 % interval {low:.2f} to {high:.2f}"


def _moved(made: Calibration, use: MetricUse) -> Iterator[str]:
    """What is not the same as when it was calibrated."""
    old, was, now = made.metric, made.metric.judge or None, use.judge or None
    model, asked = (one.model if one else "nobody" for one in (was, now))
    if model != asked:
        yield f"calibrated for {model}, the run asked {asked}"
    for what in ("prompt", "rubric"):
        if getattr(was, what, None) != getattr(now, what, None):
            yield f"calibrated with another {what}"
    if old.version != use.version:
        yield f"calibrated at version {old.version}, the run used version {use.version}"
    yield from _changed("", old.params, use.params)
    yield from _changed("the judge's ", was.params if was else {}, now.params if now else {})
    if made.agreement.kind == "verdicts" and old.threshold != use.threshold:
        then, today = (_bound(one.threshold) for one in (old, use))
        yield f"calibrated at the threshold {then}, the run has {today}"


def _bound(threshold: float | None) -> str:
    return "none" if threshold is None else f"{threshold:g}"


def _changed(whose: str, old: dict[str, Json], new: dict[str, Json]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        left, right = old.get(name), new.get(name)
        if left != right:
            yield f"calibrated with {whose}{name} {_short(left)}, the run has {_short(right)}"


def _short(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
