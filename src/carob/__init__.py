"""Carob measures AI agents against golden data."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:  # `X as X` marks a name as exported
    from carob.api.calibration import calibrate as calibrate
    from carob.api.compare import compare as compare
    from carob.api.datasets import convert as convert
    from carob.api.datasets import save as save
    from carob.api.datasets import subset as subset
    from carob.api.datasets import summarise as summarise
    from carob.api.datasets import validate as validate
    from carob.api.leaderboard import leaderboard as leaderboard
    from carob.api.lint import lint as lint
    from carob.api.load import load as load
    from carob.api.optimiser import as_metric as as_metric
    from carob.api.release import release as release
    from carob.api.runs import run as run
    from carob.api.testing import check as check
    from carob.api.testing import score as score
    from carob.api.traces import capture as capture
    from carob.api.traces import read_traces as read_traces
    from carob.api.versions import checkout as checkout
    from carob.api.versions import diff as diff
    from carob.datasets.formats import Format as Format
    from carob.datasets.lens import read_only_lens as read_only_lens
    from carob.datasets.lint.rules import RuleFamily as RuleFamily
    from carob.errors import CarobError as CarobError
    from carob.judges.model import JudgeModel as JudgeModel
    from carob.metrics import Metric as Metric
    from carob.metrics.function import metric as metric
    from carob.report.forms import ReportInputs as ReportInputs
    from carob.schema import Case as Case
    from carob.schema import Dataset as Dataset
    from carob.schema import Failed as Failed
    from carob.schema import LintRule as LintRule
    from carob.schema import Rubric as Rubric
    from carob.schema import Score as Score
    from carob.schema import Span as Span
    from carob.schema import ToolCall as ToolCall
    from carob.schema import ToolResult as ToolResult
    from carob.schema import Trace as Trace
    from carob.schema import Turn as Turn
    from carob.schema import Unscored as Unscored
    from carob.targets.target import Conversation as Conversation
    from carob.targets.target import Target as Target
    from carob.targets.target import TargetError as TargetError
    from carob.traces.containers.container import Container as Container
    from carob.traces.mapping.convention import Convention as Convention
    from carob.traces.mapping.convention import SpanMarks as SpanMarks
    from carob.traces.mapping.sources import text_in as text_in

_NAMES = {
    "CarobError": "carob.errors:CarobError",
    "Case": "carob.schema:Case",
    "Container": "carob.traces.containers.container:Container",
    "Convention": "carob.traces.mapping.convention:Convention",
    "Conversation": "carob.targets.target:Conversation",
    "Dataset": "carob.schema:Dataset",
    "Failed": "carob.schema:Failed",
    "Format": "carob.datasets.formats:Format",
    "JudgeModel": "carob.judges.model:JudgeModel",
    "LintRule": "carob.schema:LintRule",
    "Metric": "carob.metrics:Metric",
    "ReportInputs": "carob.report.forms:ReportInputs",
    "Rubric": "carob.schema:Rubric",
    "RuleFamily": "carob.datasets.lint.rules:RuleFamily",
    "Score": "carob.schema:Score",
    "Span": "carob.schema:Span",
    "SpanMarks": "carob.traces.mapping.convention:SpanMarks",
    "Target": "carob.targets.target:Target",
    "TargetError": "carob.targets.target:TargetError",
    "ToolCall": "carob.schema:ToolCall",
    "ToolResult": "carob.schema:ToolResult",
    "Trace": "carob.schema:Trace",
    "Turn": "carob.schema:Turn",
    "Unscored": "carob.schema:Unscored",
    "as_metric": "carob.api.optimiser:as_metric",
    "calibrate": "carob.api.calibration:calibrate",
    "capture": "carob.api.traces:capture",
    "check": "carob.api.testing:check",
    "checkout": "carob.api.versions:checkout",
    "compare": "carob.api.compare:compare",
    "convert": "carob.api.datasets:convert",
    "diff": "carob.api.versions:diff",
    "leaderboard": "carob.api.leaderboard:leaderboard",
    "lint": "carob.api.lint:lint",
    "load": "carob.api.load:load",
    "metric": "carob.metrics.function:metric",
    "read_only_lens": "carob.datasets.lens:read_only_lens",
    "read_traces": "carob.api.traces:read_traces",
    "release": "carob.api.release:release",
    "run": "carob.api.runs:run",
    "save": "carob.api.datasets:save",
    "score": "carob.api.testing:score",
    "subset": "carob.api.datasets:subset",
    "summarise": "carob.api.datasets:summarise",
    "text_in": "carob.traces.mapping.sources:text_in",
    "validate": "carob.api.datasets:validate",
}
"""The public names: nouns, protocols for plugin authors, and use-cases."""

__all__ = [*_NAMES]  # pyright: ignore[reportUnsupportedDunderAll] - exports are marked above


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `carob --help` imports none of them."""
    if name not in _NAMES:
        raise AttributeError(f"module 'carob' has no attribute {name!r}")
    from carob.lazy import load_object

    return load_object(_NAMES[name])


def __dir__() -> list[str]:
    return __all__
