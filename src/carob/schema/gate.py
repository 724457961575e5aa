"""The rules and the result of a gate."""

from __future__ import annotations

from typing import Literal

from carob.schema.base import Struct
from carob.schema.comparison import Comparison
from carob.schema.problem import Problem


class GateRules(Struct, frozen=True, kw_only=True):
    """The rules of a gate; `None` and empty rules are not checked."""

    baseline: str | None = None
    """The run to compare with."""
    margin: float | None = None
    margins: dict[str, float] = {}
    alpha: float | None = None
    metrics: tuple[str, ...] = ()
    """Informational metrics that must not regress either."""
    thresholds: dict[str, float] = {}
    """The minimum mean of a metric, or the maximum if lower is better."""
    min_pass_rate: float | None = None
    strict: bool = False
    """Whether inconclusive checks fail."""
    allow_unscored: bool = False
    require_calibration: bool = False
    min_kappa: float | None = None
    """The minimum of the lower bound of a judge's kappa."""
    calibrations: tuple[str, ...] = ()
    """Files with calibrations, in addition to the store."""
    quarantine: str | None = None
    """The file of quarantined cases."""

    @property
    def calibrated(self) -> bool:
        """Whether judges must be calibrated; a minimum kappa or a calibration file implies it."""
        return self.require_calibration or self.min_kappa is not None or bool(self.calibrations)


class GateCheck(Struct, frozen=True, omit_defaults=False):
    """One check of a gate."""

    name: str
    status: Literal["passed", "failed", "inconclusive"]
    message: str


class QuarantinedCase(Struct, frozen=True, omit_defaults=False):
    """A case that is excluded from the gate for a while, with an owner and an expiry date."""

    case: str
    owner: str
    expires: str
    """The last day, such as 2026-12-31."""
    reason: str


class GateResult(Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The result of a gate."""

    schema: str = "carob.gate/1"
    run: str
    baseline: str | None
    passed: bool
    checks: tuple[GateCheck, ...]
    quarantined: tuple[QuarantinedCase, ...]
    problems: tuple[Problem, ...]
    comparison: Comparison | None
