"""Use-cases of two runs: is the difference real, and may the new one pass?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from carob.analysis import gate as analysis
from carob.analysis.calibration_gate import deciding_judges
from carob.analysis.compare import compare as _compare
from carob.analysis.rules import ALPHA, MARGIN, ComparisonRules
from carob.api.calibration import find_calibrations
from carob.api.clock import now
from carob.api.history import find_run
from carob.api.load import PathName
from carob.config import find_config, load_config, load_quarantine
from carob.errors import EvaluationError
from carob.schema import Comparison, GateResult, GateRules, Problem, QuarantinedCase, Run


def compare(
    before: Run | PathName,
    after: Run | PathName,
    *,
    margin: float = MARGIN,
    margins: Mapping[str, float] | None = None,
    alpha: float = ALPHA,
    held: Collection[str] = (),
) -> Comparison:
    """Is the difference between two runs real? The margin is a share of each metric's scale; those
    of single metrics are in the units of the metric."""
    rules = ComparisonRules(alpha, margin, margins or {}, held)
    return _compare(_found(before), _found(after), rules)


def gate_rules(config: Path | None = None, **flags: object) -> GateRules:
    """The rules of a config, or of the `carob.toml` that is here, under the flags."""
    path = config or find_config(Path.cwd())
    found = load_config(path).gate if path else GateRules()
    given = {
        name: value
        for name, value in flags.items()
        if value is not None and value is not False and value not in ((), {})  # 0 is a number
    }
    return msgspec.structs.replace(found, **given)


def gate(run: Run | PathName, rules: GateRules) -> GateResult:
    """May the run pass?"""
    made = _found(run)
    before = _found(rules.baseline) if rules.baseline else None
    excused = _quarantined(rules)
    names = {one.case for one in excused}
    problems = _unknown(excused, made, rules)
    made, before = (
        analysis.exclude_cases(made, names),
        before and analysis.exclude_cases(before, names),
    )
    comparison = before and _compare(
        before,
        made,
        ComparisonRules(
            ALPHA if rules.alpha is None else rules.alpha,
            MARGIN if rules.margin is None else rules.margin,
            rules.margins,
            rules.metrics,
        ),
    )
    known = find_calibrations(deciding_judges(made, rules), rules) if rules.calibrated else ()
    checks = tuple(analysis.gate_checks(made, rules, before, comparison, known))
    return GateResult(
        run=made.id,
        baseline=before.id if before else None,
        passed=analysis.gate_passes(checks, rules),
        checks=checks,
        quarantined=excused,
        problems=problems,
        comparison=comparison,
    )


def _found(run: Run | PathName) -> Run:
    return run if isinstance(run, Run) else find_run(str(run))


def _quarantined(rules: GateRules) -> tuple[QuarantinedCase, ...]:
    """The cases that may not decide today."""
    if rules.quarantine is None:
        return ()
    found, today = load_quarantine(Path(rules.quarantine)), now().date().isoformat()
    expired = [one for one in found if one.expires < today]
    if expired:
        named = "; ".join(f"{one.case!r} on {one.expires}, owner {one.owner}" for one in expired)
        hint = "mend the case, or agree on another day with its owner"
        raise EvaluationError(f"the quarantine is over: {named}", where=rules.quarantine, hint=hint)
    return found


def _unknown(excused: Sequence[QuarantinedCase], run: Run, rules: GateRules) -> tuple[Problem, ...]:
    known = {one.case for one in run.cases}
    return tuple(
        Problem(
            where=rules.quarantine or "",
            message=f"the run has no case {one.case!r}, which is in quarantine",
            hint=f"remove it; its owner is {one.owner}",
            severity="warning",
        )
        for one in excused
        if one.case not in known
    )
