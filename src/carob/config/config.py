from __future__ import annotations

from carob.config.choice import MetricChoice
from carob.config.lint import LintChoice
from carob.schema import GateRules, JudgeChoice, Noun


class Config(Noun, frozen=True):
    """What a file says about a run. Names of metrics and profiles are as they are written."""

    source: str
    dialect: str
    golden: str | None = None
    traces: tuple[str, ...] = ()
    metrics: tuple[MetricChoice, ...] = ()
    others: tuple[MetricChoice, ...] = ()
    """Metrics that have settings but are not asked for; they count when a flag asks for them."""
    judge: JudgeChoice | None = None
    """The model that judges ask, and how."""
    profile: str | None = None
    """Name or file of the scoring profile for all cases."""
    profiles: tuple[str, ...] = ()
    """Files with more profiles, which cases may name."""
    store: str | None = None
    """File that runs are kept in."""
    lint: LintChoice = LintChoice()
    gate: GateRules = GateRules()

    def choice(self, name: str) -> MetricChoice:
        """The metric of that name, with its settings if the file has any."""
        known = (*self.metrics, *self.others)
        return next((one for one in known if one.name == name), MetricChoice(name=name))
