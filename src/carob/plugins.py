"""Entry points: the built-in formats and metrics come through the same door as anybody else's.

Ours are in tables here, too, because to look through all installed packages takes longer than a
small run: theirs are looked for when ours will not do, and whenever all are listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, overload

from carob.datasets.formats import Format
from carob.errors import UsageError
from carob.metrics import Metric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

FORMATS = {
    "adk": "carob.datasets.formats.adk:Adk",
    "adk-history": "carob.datasets.formats.adk_history:AdkHistory",
    "csv": "carob.datasets.formats.csv:Csv",
    "examples": "carob.datasets.formats.examples:Examples",
    "explain": "carob.datasets.formats.explain:Explain",
    "questions": "carob.datasets.formats.questions:Questions",
    "simulation": "carob.datasets.formats.simulation:Simulation",
    "test": "carob.datasets.formats.query_list:QueryLists",
}
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
    "inference_call_count_v1": "carob.metrics.usage.efficiency:InferenceCallCount",
    "invocation_duration_v1": "carob.metrics.usage.efficiency:TurnDuration",
    "latency": "carob.metrics.usage.latency:Latency",
    "output_density": "carob.metrics.usage.token_usage:OutputDensity",
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


class _Group:
    """The plugins of one kind, by name."""

    def __init__(self, name: str, noun: str, own: Mapping[str, str]) -> None:
        self._name, self._noun = name, noun
        self.own = own

    @cached_property
    def others(self) -> Mapping[str, EntryPoint]:
        """What other packages bring, by name."""
        found: dict[str, EntryPoint] = {}
        for point in _installed(self._name):
            known = found[point.name].value if point.name in found else self.own.get(point.name)
            if known not in (None, point.value):
                message = f"two installed packages bring a {self._noun} {point.name!r}"
                raise UsageError(message, hint=f"{known} and {point.value}: uninstall one of them")
            if known is None:
                found[point.name] = point
        return dict(sorted(found.items()))

    def load(self, name: str) -> Any:
        """What a plugin is, imported now."""
        if name not in self.own:
            return self.others[name].load()
        module, _, attribute = self.own[name].partition(":")
        return getattr(import_module(module), attribute)


def _installed(group: str) -> Sequence[EntryPoint]:
    from importlib.metadata import entry_points

    # An editable install may list built-ins under the modules they had when it was made.
    return tuple(
        point
        for point in entry_points(group=group)
        if point.dist is None or point.dist.name != "carob"
    )


class Formats(Sequence[Format]):
    """Every golden format that is installed: ours by name, then others by name. A format is
    imported when it is its turn."""

    def __init__(self) -> None:
        self._group = _Group("carob.formats", "format", FORMATS)
        self._made: dict[str, Format] = {}

    def __iter__(self) -> Iterator[Format]:
        yield from map(self._format, self._group.own)
        yield from map(self._format, self._group.others)

    def _format(self, name: str) -> Format:
        if name not in self._made:
            self._made[name] = self._group.load(name)()
        return self._made[name]

    @overload
    def __getitem__(self, index: int) -> Format: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Format]: ...
    def __getitem__(self, index: int | slice) -> Format | Sequence[Format]:
        return tuple(self)[index]

    def __len__(self) -> int:
        return len(self._group.own) + len(self._group.others)


class Metrics(Mapping[str, type[Metric]]):
    """Every metric that is installed, by name; a metric is imported when it is asked for."""

    def __init__(self) -> None:
        self._group = _Group("carob.metrics", "metric", METRICS)

    def __getitem__(self, name: str) -> type[Metric]:
        return self._group.load(name)

    def __iter__(self) -> Iterator[str]:
        names = [*self._group.own, *self._group.others]
        return iter(sorted(names, key=lambda name: (name.lower(), name)))

    def __len__(self) -> int:
        return len(self._group.own) + len(self._group.others)


@cache
def formats() -> Formats:
    return Formats()


@cache
def metrics() -> Metrics:
    return Metrics()
