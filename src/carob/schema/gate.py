from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct
from carob.schema.comparison import Comparison
from carob.schema.problem import Problem


class GateRules(Struct, frozen=True, kw_only=True):
    """What a gate holds a run to; what is `None` or empty is not asked for."""

    baseline: str | None = None
    """The run that it must not fall behind."""
    margin: float | None = None
    margins: dict[str, float] = {}
    alpha: float | None = None
    metrics: tuple[str, ...] = ()
    """Metrics that must not fall behind although they have no threshold."""
    thresholds: dict[str, float] = {}
    """What the mean of a metric must reach, or stay below if lower is better."""
    min_pass_rate: float | None = None
    strict: bool = False
    """Does what is inconclusive fail?"""
    allow_unscored: bool = False
    require_calibration: bool = False
    min_kappa: float | None = None
    """What the lower end of a judge's kappa must reach."""
    calibrations: tuple[str, ...] = ()
    """Files with calibrations; the store has others."""
    quarantine: str | None = None
    """The file with the cases that may not decide."""

    @property
    def calibrated(self) -> bool:
        """Must judges be calibrated? Who says how well, or by which file, says that they must."""
        return self.require_calibration or self.min_kappa is not None or bool(self.calibrations)


class GateCheck(Struct, frozen=True, omit_defaults=False):
    """One thing that a gate holds a run to."""

    name: str
    status: Literal["passed", "failed", "inconclusive"]
    message: str


class QuarantinedCase(Struct, frozen=True, omit_defaults=False):
    """A case that may not decide for a while: who sees to it, and until when."""

    case: str
    owner: str
    expires: str
    """The last day, as in 2026-12-31."""
    reason: str


class GateResult(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """May the run pass?"""

    schema: str = "carob.gate/1"
    run: str
    baseline: str | None
    passed: bool
    checks: tuple[GateCheck, ...]
    quarantined: tuple[QuarantinedCase, ...]
    problems: tuple[Problem, ...]
    comparison: Comparison | None
