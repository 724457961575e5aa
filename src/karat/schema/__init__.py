"""The nouns: what golden data, recordings and results are made of. No I/O."""

from karat.schema.case import Case, Scenario, Session, content_id
from karat.schema.conversion import Conversion, Loss
from karat.schema.dataset import Dataset
from karat.schema.diff import Bump, Change, Diff
from karat.schema.lineage import Lineage
from karat.schema.lint import DatasetUse, Finding, LintedFile, LintRule
from karat.schema.metric_info import MetricInfo
from karat.schema.modes import ModeComparison, PairedMetric
from karat.schema.noun import Json, Noun
from karat.schema.origin import Origin
from karat.schema.outcome import Failed, Score, Unscored
from karat.schema.problem import Problem, Severity, Validation
from karat.schema.release import CountedCases, Previous, Release
from karat.schema.review import Review, ReviewStatus
from karat.schema.rubric import Rubric
from karat.schema.run import (
    CaseCounts,
    CaseResult,
    CaseScore,
    Exchange,
    Group,
    Judgement,
    MetricSummary,
    MetricUse,
    Run,
    RunDataset,
    RunSummary,
    ScoreStatus,
    Status,
    Unmatched,
    Verdict,
)
from karat.schema.span import Span, SpanEvent
from karat.schema.summary import Summary, expected_tools
from karat.schema.tool_call import ToolCall, ToolResult
from karat.schema.trace import Trace
from karat.schema.turn import Message, Turn
from karat.schema.understanding import Captured, Understanding, Understood
from karat.schema.usage import ModelCall, Usage
from karat.schema.verdicts import Verdicts

__all__ = [
    "Bump",
    "Captured",
    "Case",
    "CaseCounts",
    "CaseResult",
    "CaseScore",
    "Change",
    "Conversion",
    "CountedCases",
    "Dataset",
    "DatasetUse",
    "Diff",
    "Exchange",
    "Failed",
    "Finding",
    "Group",
    "Json",
    "Judgement",
    "Lineage",
    "LintRule",
    "LintedFile",
    "Loss",
    "Message",
    "MetricInfo",
    "MetricSummary",
    "MetricUse",
    "ModeComparison",
    "ModelCall",
    "Noun",
    "Origin",
    "PairedMetric",
    "Previous",
    "Problem",
    "Release",
    "Review",
    "ReviewStatus",
    "Rubric",
    "Run",
    "RunDataset",
    "RunSummary",
    "Scenario",
    "Score",
    "ScoreStatus",
    "Session",
    "Severity",
    "Span",
    "SpanEvent",
    "Status",
    "Summary",
    "ToolCall",
    "ToolResult",
    "Trace",
    "Turn",
    "Understanding",
    "Understood",
    "Unmatched",
    "Unscored",
    "Usage",
    "Validation",
    "Verdict",
    "Verdicts",
    "content_id",
    "expected_tools",
]
