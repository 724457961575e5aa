"""Plugins: every extension point, its built-ins, and the plugins that other packages install.

Built-ins and plugins take the same form: a name and a reference `package.module:name`. The
built-ins are in tables, because searching all installed packages for entry points takes longer
than a small run: plugins are looked up when a name is not built in, and whenever all are listed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from carob.datasets.formats import BUILTIN as FORMATS
from carob.datasets.formats import Format
from carob.errors import UsageError
from carob.lazy import load_object
from carob.metrics import Metric
from carob.report.forms import add_form_finder
from carob.traces.containers.registry import add_container_finders
from carob.traces.conventions.registry import add_convention_finders

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from carob.datasets.lint.rules import RuleTable
    from carob.judges.providers.open import ProviderFactory
    from carob.report.forms import FormFunction
    from carob.targets.open import TargetFactory
    from carob.traces.containers.container import Container
    from carob.traces.mapping.convention import Convention

_JUDGED = (
    "Coherence",
    "Empathy",
    "final_response_match_v2",
    "Fluency",
    "hallucinations_v1",
    "Helpfulness",
    "IntentResolution",
    "multi_turn_task_success_v1",
    "multi_turn_tool_use_quality_v1",
    "multi_turn_trajectory_quality_v1",
    "per_turn_user_simulator_quality_v1",
    "PerceivedIntelligence",
    "Relevance",
    "response_correctness",
    "response_evaluation_score",
    "rubric_based_final_response_quality_v1",
    "rubric_based_multi_turn_trajectory_quality_v1",
    "rubric_based_tool_use_quality_v1",
    "safety_v1",
    "TaskAdherence",
    "ToolCallAccuracy",
)
"""Metrics whose rubrics come with Carob."""
METRICS = {
    "agent_handoffs": "carob.metrics.agents.routing:AgentHandoffs",
    "agent_routing": "carob.metrics.agents.routing:AgentRouting",
    "assertions": "carob.metrics.text.assertions:Assertions",
    "bleu": "carob.metrics.text.overlap:Bleu",
    "cache_efficiency": "carob.metrics.usage.token_usage:CacheEfficiency",
    "chrf": "carob.metrics.text.overlap:Chrf",
    "coherence": "carob.metrics.text.coherence:Coherence",
    "completeness": "carob.metrics.text.factuality:Completeness",
    "conciseness": "carob.metrics.text.conciseness:Conciseness",
    "consistency": "carob.metrics.text.consistency:Consistency",
    "contains": "carob.metrics.text.matching:Contains",
    "context_saturation": "carob.metrics.usage.token_usage:ContextSaturation",
    "contract": "carob.metrics.text.contract:Contract",
    "cost": "carob.metrics.usage.cost:Cost",
    "exact_match": "carob.metrics.text.matching:ExactMatch",
    "factuality": "carob.metrics.text.factuality:Factuality",
    "grounding_utilization": "carob.metrics.text.hallucination:GroundingUtilization",
    "hallucination": "carob.metrics.text.hallucination:Hallucination",
    "harm": "carob.metrics.safety.harm:Harm",
    "inference_call_count_v1": "carob.metrics.usage.efficiency:InferenceCallCount",
    "invocation_duration_v1": "carob.metrics.usage.efficiency:TurnDuration",
    "latency": "carob.metrics.usage.latency:Latency",
    "output_density": "carob.metrics.usage.token_usage:OutputDensity",
    "pii_leak": "carob.metrics.safety.pii_leak:PiiLeak",
    "regex": "carob.metrics.text.matching:Regex",
    "relevance": "carob.metrics.text.relevance:Relevance",
    "response_match_score": "carob.metrics.text.response_match:ResponseMatch",
    "rouge_l": "carob.metrics.text.overlap:RougeL",
    "safety": "carob.metrics.safety.safety:Safety",
    "sandbox_usage": "carob.metrics.tools.activity:SandboxUsage",
    "semantic_similarity": "carob.metrics.text.semantic:SemanticSimilarity",
    "state_management_fidelity": "carob.metrics.agents.state:StateFidelity",
    "thinking_metrics": "carob.metrics.usage.token_usage:Thinking",
    "token_usage": "carob.metrics.usage.token_usage:TokenUsage",
    "token_usage_v1": "carob.metrics.usage.efficiency:TurnTokens",
    "tool_call_count_v1": "carob.metrics.usage.efficiency:ToolCallCount",
    "tool_success_rate": "carob.metrics.tools.activity:ToolSuccess",
    "tool_trajectory_avg_score": "carob.metrics.tools.trajectory:ToolTrajectory",
    "tool_usage_accuracy": "carob.metrics.tools.accuracy:ToolUsage",
    "tool_utilization": "carob.metrics.tools.activity:ToolUtilization",
    "trajectory_accuracy": "carob.metrics.agents.trajectory:Trajectory",
    **{name: f"carob.judges.rubrics.builtin:{name}" for name in _JUDGED},
}


class ExtensionPoint(NamedTuple):
    """One extension point."""

    noun: str
    """What a plugin is called in error messages."""
    table: str
    """A reference to the table of built-ins: from names to references."""

    @property
    def builtin(self) -> Mapping[str, str]:
        """The built-ins, by name."""
        return load_object(self.table)


EXTENSION_POINTS = {
    "carob.formats": ExtensionPoint("format", "carob.datasets.formats:BUILTIN"),
    "carob.metrics": ExtensionPoint("metric", "carob.plugins:METRICS"),
    "carob.containers": ExtensionPoint("container", "carob.traces.containers.registry:BUILTIN"),
    "carob.conventions": ExtensionPoint("convention", "carob.traces.conventions.registry:BUILTIN"),
    "carob.judge_providers": ExtensionPoint(
        "judge provider", "carob.judges.providers.open:PROVIDERS"
    ),
    "carob.targets": ExtensionPoint("target", "carob.targets.open:TARGETS"),
    "carob.lint_rules": ExtensionPoint("family of lint rules", "carob.datasets.lint.run:FAMILIES"),
    "carob.report_forms": ExtensionPoint("report form", "carob.report.forms:RUN_FORMS"),
}
"""Every extension point, by the group of its entry points."""


@cache
def find_installed(group: str) -> Mapping[str, EntryPoint]:
    """Return the plugins of other packages, by name. Raises `UsageError` for a name that is built
    in, or that two packages use: which of them answers must not depend on the order of
    installation."""
    from importlib.metadata import entry_points  # late: slower to import than a small run

    extension, plugins = EXTENSION_POINTS[group], dict[str, "EntryPoint"]()
    for point in entry_points(group=group):
        if point.dist and point.dist.name == "carob":
            continue  # an editable install may list built-ins of an earlier version
        taken = extension.builtin.get(point.name)
        if point.name in plugins:
            taken = plugins[point.name].value
        if taken == point.value:
            continue
        if taken is not None:
            hint = f"{taken} and {point.value}: uninstall one of them"
            raise UsageError(f"duplicate {extension.noun} {point.name!r}", hint=hint)
        plugins[point.name] = point
    return dict(sorted(plugins.items()))


def load_plugin(group: str, name: str) -> Any:
    """Import a built-in or a plugin. Raises `KeyError` for an unknown name."""
    builtin = EXTENSION_POINTS[group].builtin
    if name in builtin:
        return load_object(builtin[name])
    point = find_installed(group)[name]
    try:
        return point.load()
    except Exception as error:  # importing foreign code may fail in any way
        message = (
            f"cannot import the {EXTENSION_POINTS[group].noun} {name!r} from {point.value}: {error}"
        )
        raise UsageError(message, hint="fix or uninstall the package") from error


class Formats(Sequence[Format]):
    """Every golden format, built-ins first. A format is imported when iteration reaches it."""

    def __init__(self) -> None:
        self._formats: dict[str, Format] = {}

    def __iter__(self) -> Iterator[Format]:
        yield from map(self._format, FORMATS)
        yield from map(self._format, find_installed("carob.formats"))

    def _format(self, name: str) -> Format:
        if name not in self._formats:
            self._formats[name] = load_plugin("carob.formats", name)()
        return self._formats[name]

    @overload
    def __getitem__(self, index: int) -> Format: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Format]: ...
    def __getitem__(self, index: int | slice) -> Format | Sequence[Format]:
        return tuple(self)[index]

    def __len__(self) -> int:
        return len(FORMATS) + len(find_installed("carob.formats"))


class Plugins(Mapping[str, Any]):
    """The built-ins and plugins of one group, by name. Each is imported when it is looked up."""

    def __init__(self, group: str, *, alphabetical: bool = False) -> None:
        self._group = group
        self._alphabetical = alphabetical

    def __getitem__(self, name: str) -> Any:
        return load_plugin(self._group, name)

    def __iter__(self) -> Iterator[str]:
        names = [*EXTENSION_POINTS[self._group].builtin, *find_installed(self._group)]
        if self._alphabetical:
            names.sort(key=lambda name: (name.lower(), name))
        return iter(names)

    def __len__(self) -> int:
        return len(EXTENSION_POINTS[self._group].builtin) + len(find_installed(self._group))


@cache
def formats() -> Formats:
    """Return every golden format."""
    return Formats()


@cache
def metrics() -> Mapping[str, type[Metric]]:
    """Return every metric by name."""
    return Plugins("carob.metrics", alphabetical=True)


@cache
def judge_providers() -> Mapping[str, ProviderFactory]:
    """Return every judge provider by name."""
    return Plugins("carob.judge_providers")


@cache
def targets() -> Mapping[str, TargetFactory]:
    """Return every kind of live agent by the scheme of its names."""
    return Plugins("carob.targets")


def lint_rules() -> RuleTable:
    """Return every lint rule."""
    from carob.datasets.lint.run import BUILT_IN  # late: only `carob lint` needs it

    group = "carob.lint_rules"
    families = [load_plugin(group, name) for name in find_installed(group)]
    return BUILT_IN.extend(families) if families else BUILT_IN


def find_containers() -> Iterable[Container]:
    """Return the containers of other packages."""
    group = "carob.containers"
    return [load_plugin(group, name)() for name in find_installed(group)]


def find_conventions() -> Iterable[Convention]:
    """Return the conventions of other packages."""
    group = "carob.conventions"
    return [load_plugin(group, name)() for name in find_installed(group)]


def find_forms() -> Mapping[str, Callable[[], FormFunction]]:
    """Return the report forms of other packages."""
    group = "carob.report_forms"
    return {name: partial(load_plugin, group, name) for name in find_installed(group)}


# Rooms below this module cannot import it. They call these finders when no built-in answers; a
# worker process has them as soon as it imports this module, as everything in `api` does.
add_container_finders([find_containers])
add_convention_finders([find_conventions])
add_form_finder(find_forms)
