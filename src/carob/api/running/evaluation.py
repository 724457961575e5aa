"""The result of `evaluate`: a run, and what its reports need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from carob.api.load import PathName
from carob.errors import CarobError
from carob.report.forms import ReportInputs
from carob.schema import Dataset, Run
from carob.schema.history import RunEntry


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and what reports need besides it."""

    run: Run
    golden: PathName | Dataset | None
    store: str | None
    """Where the run is saved, if it is."""
    config: Path | None = None
    """The config whose mapping the golden data was read with."""

    def passed(self, *, allow_unscored: bool = False) -> bool:
        """Return whether the run passed."""
        return passed(self.run, allow_unscored=allow_unscored)

    def report_inputs(self, by: Sequence[str] = ()) -> ReportInputs:
        """Return the inputs of a report. What only some forms need is loaded by those forms."""
        from carob.api.metrics import metrics  # late: only some forms need it

        return ReportInputs(
            self.run,
            by,
            load_case_lines=self._case_lines,
            load_metrics=metrics,
            load_earlier_runs=self._earlier_runs,
        )

    def _case_lines(self) -> Mapping[str, tuple[str, int]]:
        from carob.api.datasets import case_lines  # late: only some forms need it

        if self.golden is None or isinstance(self.golden, Dataset):
            return {}
        return case_lines(self.golden, config=self.config)

    def _earlier_runs(self) -> Sequence[RunEntry]:
        from carob.api.history import earlier_runs  # late: only some forms need it

        if self.store is None:
            return ()
        try:
            return earlier_runs(self.run, store=self.store)
        except CarobError:  # reported when the run was saved
            return ()


def passed(run: Run, *, allow_unscored: bool = False) -> bool:
    """Return whether a run has no verdict against it: it passed, or no metric was asked to decide.
    A run that scored nothing never does."""
    counts = run.summary.cases
    if run.verdict in ("passed", "informational"):
        return True
    return (
        allow_unscored
        and not run.stopped
        and counts.passed > 0
        and not counts.failed
        and not counts.errors
    )
