"""The request for a run, and the listeners that follow it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from carob.api.live_request import LiveRequest
from carob.api.load import PathName
from carob.api.running.default_metrics import ChosenMetrics
from carob.api.settings import JudgeFlags
from carob.config import Config, MetricChoice
from carob.schema import CaseCounts, Dataset, JudgeSettings, LiveEvent, Trace
from carob.schema.problem import ProblemListener, ProgressListener, ignore

# Structs rather than dataclasses: those compile their methods at import, which `carob run` would
# pay for every time.


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller asks of a run. The config fills in what the caller leaves out."""

    traces: Sequence[PathName] = ()
    recorded: Sequence[Trace] = ()
    """Traces in memory, scored instead of files."""
    rescore: str | None = None
    """A stored run whose traces are scored again."""
    live: LiveRequest | None = None
    """A live agent to ask, instead of traces."""
    golden: PathName | Dataset | None = None
    metrics: Sequence[str | MetricChoice] = ()
    """Without any, those that the data asks for."""
    thresholds: Mapping[str, str] = {}
    params: Mapping[str, str] = {}
    profile: str | None = None
    tags: Sequence[str] = ()
    """Conditions that select cases, as the next three."""
    where: str | None = None
    cases: Sequence[str] = ()
    limit: int | None = None
    filters: Sequence[str] = ()
    """Metadata that cases must have, as `KEY:VALUE,VALUE`."""
    sample: int | None = None
    """Number of cases to draw, in the shares of `stratify` if that is a key of the metadata."""
    stratify: str | None = None
    sample_seed: int = 0
    by: Sequence[str] = ()
    """Properties to break results down by: `agent`, `tag`, or any key of the metadata."""
    contracts: Path | None = None
    judge: str | JudgeSettings | JudgeFlags | None = None
    mapping: str | None = None
    """Names of the fields in golden rows and logs, such as `user=query,expected=antwort`."""
    config: Path | Config | None = None
    """Without one, the `carob.toml` of the working directory is used."""
    allow_code: bool = False
    """Whether metrics may be code files that the caller names, such as `tone.py:tone`."""
    trust_config: bool = False
    """Whether its sensitive settings take effect without the user's recorded trust."""
    cross: bool = False
    """Whether to score every case with every trace."""
    jobs: int | None = None
    on: str | None = None
    """A cluster to score on: `ray`, `ray://HOST:PORT` or `HOST:PORT`."""
    resume: bool = False
    save: bool = True
    store: str | None = None
    labels: Mapping[str, str] = {}
    keep_traces: bool = False
    answers: str | None = None
    """Store of judge answers for a run that is not saved. A saved run caches them beside it."""


class Listeners(msgspec.Struct, frozen=True, kw_only=True):
    """Called while a run is made."""

    reading: ProgressListener = ignore
    """Receives the bytes of traces read, and the total."""
    scoring: ProgressListener = ignore
    """Receives how much is scored, and the total."""
    counts: Callable[[CaseCounts], None] = ignore
    """Receives how everything that is scored came out, before `scoring` is called."""
    live: Callable[[LiveEvent], None] = ignore
    """Receives each finished attempt of a live run."""
    cancelled: Callable[[], bool] | None = None
    """Asked now and then while a live agent is asked; the run stops as on Ctrl-C if it is true."""
    problem: ProblemListener = ignore
    metrics: Callable[[ChosenMetrics], None] = ignore
    """Receives the metrics that were chosen from the data, unless the caller named metrics."""
