"""The nouns: what golden data, recordings and results are made of. No I/O."""

from karat.schema.calibration import (
    Agreement,
    Calibration,
    Confusion,
    Disagreement,
    Label,
    Measured,
    Opinion,
    Unjudged,
)
from karat.schema.case import Case, Scenario, Session, content_id
from karat.schema.comparison import (
    Alignment,
    Attempts,
    ComparedRun,
    Comparison,
    Conclusion,
    Difference,
    FlakyCase,
    Flip,
    FlippedScore,
    FlippedTurn,
    Interval,
    Mean,
    MetricComparison,
    Moved,
    Passes,
    Reliability,
)
from karat.schema.conversion import Conversion, Loss
from karat.schema.dataset import Dataset
from karat.schema.diff import Bump, Change, Diff
from karat.schema.gate import Check, Gate, GateRules, Quarantined
from karat.schema.judging import Asked, Estimate, JudgeChoice, JudgeUse, Spending
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
    "Agreement",
    "Alignment",
    "Asked",
    "Attempts",
    "Bump",
    "Calibration",
    "Captured",
    "Case",
    "CaseCounts",
    "CaseResult",
    "CaseScore",
    "Change",
    "Check",
    "ComparedRun",
    "Comparison",
    "Conclusion",
    "Confusion",
    "Conversion",
    "CountedCases",
    "Dataset",
    "DatasetUse",
    "Diff",
    "Difference",
    "Disagreement",
    "Estimate",
    "Exchange",
    "Failed",
    "Finding",
    "FlakyCase",
    "Flip",
    "FlippedScore",
    "FlippedTurn",
    "Gate",
    "GateRules",
    "Group",
    "Interval",
    "Json",
    "JudgeChoice",
    "JudgeUse",
    "Judgement",
    "Label",
    "Lineage",
    "LintRule",
    "LintedFile",
    "Loss",
    "Mean",
    "Measured",
    "Message",
    "MetricComparison",
    "MetricInfo",
    "MetricSummary",
    "MetricUse",
    "ModeComparison",
    "ModelCall",
    "Moved",
    "Noun",
    "Opinion",
    "Origin",
    "PairedMetric",
    "Passes",
    "Previous",
    "Problem",
    "Quarantined",
    "Release",
    "Reliability",
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
    "Spending",
    "Status",
    "Summary",
    "ToolCall",
    "ToolResult",
    "Trace",
    "Turn",
    "Understanding",
    "Understood",
    "Unjudged",
    "Unmatched",
    "Unscored",
    "Usage",
    "Validation",
    "Verdict",
    "Verdicts",
    "content_id",
    "expected_tools",
]
