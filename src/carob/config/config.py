"""The config of a run, whatever dialect it was written in."""

from __future__ import annotations

from pathlib import Path

from carob.schema import (
    DatasetPurpose,
    EvaluatorSettings,
    GateRules,
    Json,
    JudgeSettings,
    SensitiveSetting,
    Severity,
    SimulatorSettings,
    Struct,
    TargetSettings,
)

RUBRIC_FILES = (".toml", ".yaml", ".yml")
"""How the name of a metric ends that is a rubric file."""


class MetricChoice(Struct, frozen=True):
    """A requested metric, under the name that the user wrote."""

    name: str
    params: dict[str, Json] = {}
    threshold: float | None = None
    """`None` for the default of the metric."""
    definition: dict[str, Json] = {}
    """The definition of a metric that is not installed: the template of a judge, or a reference to
    the user's code."""
    rubric: str | None = None
    """Rubric file of a custom judge."""
    evaluator: EvaluatorSettings | None = None
    """The user's code that scores pairs."""
    source: str | None = None
    """The config that requests it, unless a command line option changed its settings."""


class LintSettings(Struct, frozen=True):
    """The `[lint]` table. Rules are ids or names as the user wrote them."""

    ignore: tuple[str, ...] = ()
    levels: dict[str, Severity] = {}
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    """Ignored rules by path pattern, relative to the folder of the config."""
    use: DatasetPurpose | None = None
    tags: tuple[str, ...] = ()
    """The tags that cases may have; any if empty."""
    region: str | None = None
    """The country code for phone numbers that have none."""


class OnlineRule(Struct, frozen=True, kw_only=True):
    """An `[online.NAME]` table: which sessions a server scores as they complete, and how."""

    name: str
    metrics: tuple[str, ...]
    agent: str | None = None
    """Only sessions of this agent."""
    text: str | None = None
    """Only sessions with this text in their id, agent or first message."""
    sample: float = 1.0
    """The share of sessions to score. Which ones depends on their ids alone."""
    golden: str | None = None
    """A dataset of the server: only sessions that match one of its cases are scored."""
    max_cost_per_day: float | None = None
    """US dollars for judges. Without it, the rule cannot ask judges."""
    min_pass_rate: float | None = None
    """The share of passed sessions of a day, below which an alert is published."""


class ServeSettings(Struct, frozen=True, kw_only=True):
    """The `[serve]` and `[online]` tables."""

    keep_days: float = 30.0
    """Sessions without spans for so long are removed, unless they are golden or labelled."""
    keep_gb: float = 10.0
    """The oldest sessions beyond this size are removed, with the same exception."""
    rules: tuple[OnlineRule, ...] = ()


class Config(Struct, frozen=True):
    """The settings of a run. Names of metrics and profiles are not resolved yet."""

    source: str
    dialect: str
    golden: str | None = None
    traces: tuple[str, ...] = ()
    metrics: tuple[MetricChoice, ...] = ()
    unrequested: tuple[MetricChoice, ...] = ()
    """Metrics with settings that the config does not request. They apply if an option does."""
    judge: JudgeSettings | None = None
    """The judge model and its settings."""
    target: TargetSettings | None = None
    """The live agent and its settings."""
    targets: dict[str, TargetSettings] = {}
    """Further live agents, which a run names: the `[targets.NAME]` tables."""
    simulator: SimulatorSettings = SimulatorSettings()
    """How the users of conversation scenarios are played."""
    profile: str | None = None
    """Name or file of the scoring profile for all cases."""
    profiles: tuple[str, ...] = ()
    """Files with more profiles, which cases may name."""
    store: str | None = None
    """The store that runs are saved in."""
    lint: LintSettings = LintSettings()
    mapping: dict[str, str] = {}
    """Under which names plain rows state the fields of a case: the `[map]` table."""
    matrix: dict[str, dict[str, Json]] = {}
    """Values by name for each axis of `carob run --matrix`."""
    gate: GateRules = GateRules()
    serve: ServeSettings = ServeSettings()
    withheld: tuple[SensitiveSetting, ...] = ()
    """Settings that the file names and the user has not trusted. They have no effect."""

    @property
    def path(self) -> Path | None:
        """The file that the settings were read from, if there is one."""
        return Path(self.source) if self.source else None

    def choice(self, name: str) -> MetricChoice:
        """Return a metric with its settings, if the config has any."""
        choices = (*self.metrics, *self.unrequested)
        return next((choice for choice in choices if choice.name == name), MetricChoice(name=name))
