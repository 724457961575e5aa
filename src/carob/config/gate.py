"""`[gate]` of `carob.toml`."""

from __future__ import annotations

from pathlib import Path

from carob.config.paths import inside, matching
from carob.config.table import Table
from carob.schema import GateRules


def read_gate(table: Table, folder: Path) -> GateRules:
    """What the table asks of a run."""
    baseline, quarantine = table.text("baseline"), table.text("quarantine")
    if baseline is not None and baseline.endswith(".json"):
        baseline = inside(table, "baseline", baseline, folder)
    rules = GateRules(
        baseline=baseline,
        margin=table.number("margin"),
        margins=_numbers(table.table("margins")),
        alpha=table.number("alpha"),
        metrics=table.texts("metrics"),
        thresholds=_numbers(table.table("thresholds")),
        min_pass_rate=table.number("min_pass_rate"),
        strict=table.flag("strict") or False,
        allow_unscored=table.flag("allow_unscored") or False,
        require_calibration=table.flag("require_calibration") or False,
        min_kappa=table.number("min_kappa"),
        calibrations=tuple(
            path
            for value in table.texts("calibrations")
            for path in matching(table, "calibrations", value, folder)
        ),
        quarantine=quarantine and inside(table, "quarantine", quarantine, folder),
    )
    table.close()
    return rules


def _numbers(table: Table | None) -> dict[str, float]:
    if table is None:
        return {}
    found = {name: table.number(name) for name in table.entries()}
    return {name: value for name, value in found.items() if value is not None}
