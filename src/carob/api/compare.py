"""Compare two runs, and decide whether a run passes the gate."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from carob.analysis import gate as analysis
from carob.analysis.calibration_gate import deciding_judges
from carob.analysis.compare import compare as compare_runs
from carob.analysis.compare import compare_tables
from carob.analysis.distributions import require_statistics
from carob.analysis.rules import ALPHA, MARGIN, ComparisonRules
from carob.analysis.score_table import CaseNumbers, ScoreTable
from carob.api.calibration import find_calibrations
from carob.api.clock import now
from carob.api.history import find_run
from carob.api.load import PathName
from carob.config import find_config, load_config, load_quarantine
from carob.errors import EvaluationError
from carob.schema import Comparison, GateResult, GateRules, Problem, QuarantinedCase, Run
from carob.schema.problem import ProgressListener, WatchedSequence, ignore


def compare(
    before: Run | PathName,
    after: Run | PathName,
    *,
    margin: float = MARGIN,
    margins: Mapping[str, float] | None = None,
    alpha: float = ALPHA,
    held: Collection[str] = (),
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> Comparison:
    """Compare two runs statistically. `margin` is a share of each metric's scale, `margins` are in
    the units of single metrics. `held` are informational metrics to compare as well. `progress`
    receives the number of cases that were read of each run."""
    require_statistics("a comparison")
    rules = ComparisonRules(alpha, margin, margins or {}, held)
    old, new = _load(before, store, progress), _load(after, store, progress)
    return compare_runs(old, new, rules)


def gate_rules(config: Path | None = None, **flags: object) -> GateRules:
    """Return the rules of the config with the flags applied. Without a config, the `carob.toml` of
    the working directory is used if there is one."""
    path = config or find_config(Path.cwd())
    rules = load_config(path).gate if path else GateRules()
    changes = {
        name: value
        for name, value in flags.items()
        if value is not None and value is not False and value not in ((), {})  # but 0 counts
    }
    return msgspec.structs.replace(rules, **changes)


def gate(
    run: Run | PathName,
    rules: GateRules,
    *,
    baseline: Run | None = None,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> GateResult:
    """Decide whether a run passes. A `baseline` takes the place of the one that the rules name.
    `progress` receives the number of cases that were read of each run."""
    if baseline or rules.baseline:
        require_statistics("a gate with a baseline")
    quarantined = _load_quarantine(rules)
    excluded, cases = {entry.case for entry in quarantined}, CaseNumbers()
    after = ScoreTable(_load(run, store, progress), cases, excluded)
    problems = _unknown_cases(quarantined, after, rules)
    old = baseline or (_load(rules.baseline, store, progress) if rules.baseline else None)
    before = ScoreTable(old, cases, excluded) if old else None
    comparison = before and compare_tables(
        before,
        after,
        ComparisonRules(
            ALPHA if rules.alpha is None else rules.alpha,
            MARGIN if rules.margin is None else rules.margin,
            rules.margins,
            rules.metrics,
        ),
    )
    judges = deciding_judges(after, rules) if rules.calibrated else ()
    calibrations = find_calibrations(judges, rules, store=store) if rules.calibrated else ()
    checks = tuple(analysis.gate_checks(after, rules, before, comparison, calibrations))
    return GateResult(
        run=after.run.id,
        baseline=before.run.id if before else None,
        passed=analysis.gate_passes(checks, rules),
        checks=checks,
        quarantined=quarantined,
        problems=problems,
        comparison=comparison,
    )


def _load(run: Run | PathName, store: str | None, progress: ProgressListener) -> Run:
    if isinstance(run, Run):
        return run
    found = find_run(str(run), store=store, progress=progress)
    if progress is ignore:
        return found
    # Cases are decoded while they are iterated, which takes longer than finding them.
    return msgspec.structs.replace(found, cases=WatchedSequence(found.cases, progress))


def _load_quarantine(rules: GateRules) -> tuple[QuarantinedCase, ...]:
    """Return the quarantined cases. Raises `EvaluationError` if a quarantine has expired."""
    if rules.quarantine is None:
        return ()
    entries, today = load_quarantine(Path(rules.quarantine)), now().date().isoformat()
    expired = [
        f"{entry.case!r} ({entry.expires}, owner {entry.owner})"
        for entry in entries
        if entry.expires < today
    ]
    if expired:
        message = f"quarantine expired for {', '.join(expired)}"
        hint = "fix the case or extend the expiry date"
        raise EvaluationError(message, where=rules.quarantine, hint=hint)
    return entries


def _unknown_cases(
    quarantined: Sequence[QuarantinedCase], table: ScoreTable, rules: GateRules
) -> tuple[Problem, ...]:
    return tuple(
        Problem(
            where=rules.quarantine or "",
            message=f"quarantined case {entry.case!r} is not in the run",
            hint=f"remove it; its owner is {entry.owner}",
            severity="warning",
        )
        for entry in quarantined
        if entry.case not in table.excluded
    )
