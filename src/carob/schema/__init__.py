"""The nouns: what golden data, recordings and results are made of. No I/O."""

from carob.schema.calibration import (
    Agreement,
    Calibration,
    Confusion,
    Disagreement,
    Label,
    Measured,
    Opinion,
    Unjudged,
)
from carob.schema.case import Case, Scenario, Session, content_id
from carob.schema.comparison import (
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
from carob.schema.conversion import Conversion, Loss
from carob.schema.dataset import Dataset
from carob.schema.diff import Bump, Change, Diff
from carob.schema.gate import Check, Gate, GateRules, Quarantined
from carob.schema.judging import Asked, Estimate, JudgeChoice, JudgeUse, Spending
from carob.schema.lineage import Lineage
from carob.schema.lint import DatasetUse, Finding, LintedFile, LintRule
from carob.schema.metric_info import MetricInfo
from carob.schema.modes import ModeComparison, PairedMetric
from carob.schema.noun import Json, Noun
from carob.schema.origin import Origin
from carob.schema.outcome import Failed, Score, Unscored
from carob.schema.problem import Problem, Severity, Validation
from carob.schema.release import CountedCases, Previous, Release
from carob.schema.review import Review, ReviewStatus
from carob.schema.rubric import Rubric
from carob.schema.run import (
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
from carob.schema.span import Span, SpanEvent
from carob.schema.summary import Summary, expected_tools
from carob.schema.tool_call import ToolCall, ToolResult
from carob.schema.trace import Trace
from carob.schema.turn import Message, Turn
from carob.schema.understanding import Captured, Understanding, Understood
from carob.schema.usage import ModelCall, Usage
from carob.schema.verdicts import Verdicts

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
