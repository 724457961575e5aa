"""Stored runs: listings, and reports of store operations."""

from __future__ import annotations

from carob.schema.base import Struct
from carob.schema.problem import Problem
from carob.schema.run import CaseCounts, CaseResult, Status, Verdict


class RunChange(Struct, frozen=True, omit_defaults=False):
    """How a run differs from the one before it."""

    same_results: bool
    """Whether both are executions of the same run: same data, metrics and outcomes."""
    verdict_before: Verdict
    pass_rate: float | None
    """The difference of the shares of passed cases; `None` if one run decided no case, or if the
    runs have different metrics, which makes their shares incomparable."""
    same_metrics: bool = True
    """Whether the same metrics scored in both."""


class RunEntry(Struct, frozen=True, omit_defaults=False):
    """One execution of a run, as listed in the history."""

    id: str
    created_at: str
    verdict: Verdict
    dataset: str | None
    version: str | None
    cases: CaseCounts
    means: dict[str, float]
    """The mean of each metric that scored."""
    labels: dict[str, str]
    change: RunChange | None = None
    """Since the run before of the same dataset, in listings."""
    age: int = 0
    """The number of newer executions with the same content, and thus the same id."""

    @property
    def address(self) -> str:
        """What names this execution alone: its id, with `~1` if a newer one has the same id."""
        return f"{self.id}~{self.age}" if self.age else self.id


class UnfinishedRun(Struct, frozen=True, omit_defaults=False):
    """A run in progress, or one that was stopped and can be resumed."""

    key: str
    """A digest of everything that the run is made of."""
    started_at: str
    dataset: str | None
    shards: int
    """The number of parts that its traces are divided into."""
    finished: int
    """How many of them are scored."""


class HistoryPage(Struct, frozen=True, omit_defaults=False):
    """A page of the history, newest first."""

    runs: tuple[RunEntry, ...]
    next: str | None
    """Where the next page starts; `None` on the last."""
    total: int | None = None
    """How many there are in all; only on the first page."""


class VerifyReport(Struct, frozen=True, omit_defaults=False):
    """The result of verifying a store: what was checked, and the problems found."""

    store: str
    runs: int
    executions: int
    cases: int
    outcomes: int
    contents: int
    entries: int
    """Entries of the ledger."""
    removed: int
    """Executions that pruning removed, according to the ledger."""
    head: str | None
    """The digest of the last entry, to be noted elsewhere and checked later."""
    problems: tuple[Problem, ...]


class TransferReport(Struct, frozen=True, omit_defaults=False):
    """The result of an export from or an import into a store."""

    store: str
    executions: int
    """Executions that were written."""
    known: int
    """Executions that already existed."""
    contents: int
    """Traces, judges' answers and calibrations."""
    labels: int = 0
    """Labels of review queues."""


class PruneReport(Struct, frozen=True, omit_defaults=False):
    """The result of pruning a store, or with `dry` of what pruning it would do."""

    store: str
    removed: int
    kept: int
    protected: int
    """Executions kept only because of their baseline or release label."""
    dry: bool


class CasePage(Struct, frozen=True, omit_defaults=False):
    """A page of the cases of a run, in the order of the dataset."""

    items: tuple[CaseResult, ...]
    next: int | None
    """Where the next page starts; `None` on the last."""
    total: int | None = None
    """How many there are in all; only on the first page."""


class RunIndex(Struct, frozen=True, omit_defaults=False):
    """All cases of a run as rows of few values."""

    run: str
    columns: tuple[str, ...]
    """The names of the values of a row: the position in the run, the case, its status, its lowest
    score of a deciding metric, and the metrics that it did not pass."""
    rows: tuple[tuple[int, str, Status, float, tuple[str, ...]], ...]
