"""Require calibrated judges: one gate check per judge that decides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.analysis.score_table import ScoreTable
from carob.errors import UsageError
from carob.schema import Calibration, GateCheck, GateRules, Json, MetricSpec

MIN_KAPPA = 0.4
"""What the lower bound of kappa must reach; docs/design/calibration.md says why."""
_LONGEST_VALUE = 40


def meets_kappa(calibration: Calibration, minimum: float) -> bool:
    """Whether the lower bound of kappa, and not only its estimate, reaches the minimum."""
    kappa = calibration.agreement.kappa
    return kappa is not None and kappa.interval[0] >= minimum


def deciding_judges(table: ScoreTable, rules: GateRules) -> list[MetricSpec]:
    """The judges on which the result depends: through a threshold, a rule of the gate, or a
    scoring profile, which weighs scores with and without a threshold."""
    gated = {*rules.metrics, *rules.thresholds}
    return [
        spec
        for spec in table.run.metrics
        if spec.judge and (table.has_profiles or spec.threshold is not None or spec.name in gated)
    ]


def calibration_checks(
    table: ScoreTable, rules: GateRules, calibrations: Sequence[Calibration]
) -> Iterator[GateCheck]:
    """Check each deciding judge against the calibration that matches it best."""
    minimum = MIN_KAPPA if rules.min_kappa is None else rules.min_kappa
    if not -1 <= minimum <= 1:
        raise UsageError(f"the minimum kappa is {minimum:g}, expected a number from -1 to 1")
    judges = deciding_judges(table, rules)
    if not judges:
        message = "no judge decides, so no calibration is required"
        yield GateCheck("calibration", "passed", message)
    for spec in judges:
        candidates = [one for one in calibrations if one.metric.name == spec.name]
        yield _check_judge(spec, candidates, minimum)


def _check_judge(spec: MetricSpec, candidates: Sequence[Calibration], minimum: float) -> GateCheck:
    name = f"calibration of {spec.name}"
    if not candidates:
        message = "never calibrated against human labels: run `carob calibrate`"
        return GateCheck(name, "failed", message)
    mismatches = [[*_mismatches(calibration, spec)] for calibration in candidates]
    best = min(range(len(candidates)), key=lambda index: len(mismatches[index]))
    if mismatches[best]:
        return GateCheck(name, "failed", f"{', '.join(mismatches[best])}: calibrate again")
    status = "passed" if meets_kappa(candidates[best], minimum) else "failed"
    message = f"{_describe_kappa(candidates[best])}; the lower bound must be at least {minimum:g}"
    return GateCheck(name, status, message)


def _describe_kappa(calibration: Calibration) -> str:
    kappa, number = calibration.agreement.kappa, calibration.agreement.cases
    cases = f"{number:,} case{'' if number == 1 else 's'}"
    if kappa is None:
        return f"kappa is undefined because {cases} all have the same human label"
    low, high = kappa.interval
    return f"kappa {kappa.value:.2f} over {cases}, 95% confidence interval {low:.2f} to {high:.2f}"


def _mismatches(calibration: Calibration, spec: MetricSpec) -> Iterator[str]:
    """Describe what changed since the judge was calibrated."""
    metric = calibration.metric
    old, new = metric.judge or None, spec.judge or None
    old_model, new_model = (judge.model if judge else "no model" for judge in (old, new))
    if old_model != new_model:
        yield f"calibrated for {old_model}, the run used {new_model}"
    for part in ("prompt", "rubric"):
        if getattr(old, part, None) != getattr(new, part, None):
            yield f"calibrated with a different {part}"
    if metric.version != spec.version:
        yield f"calibrated with version {metric.version}, the run used version {spec.version}"
    yield from _changed_parameters("", metric.params, spec.params)
    yield from _changed_parameters("judge ", old.params if old else {}, new.params if new else {})
    if calibration.agreement.kind == "verdicts" and metric.threshold != spec.threshold:
        before, after = (_threshold(one.threshold) for one in (metric, spec))
        yield f"calibrated with threshold {before}, the run used {after}"


def _threshold(threshold: float | None) -> str:
    return "none" if threshold is None else f"{threshold:g}"


def _changed_parameters(prefix: str, old: dict[str, Json], new: dict[str, Json]) -> Iterator[str]:
    for name in sorted(old.keys() | new.keys()):
        left, right = old.get(name), new.get(name)
        if left != right:
            before, after = _shorten(left), _shorten(right)
            yield f"calibrated with {prefix}{name} {before}, the run used {after}"


def _shorten(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
