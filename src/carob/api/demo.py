"""The story of the sample data, loaded into a store: a good release of an agent, then a bad one,
whose sessions are still coming in, and answers to label."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from carob.api.golden.folder import GoldenFolder, add_dataset, list_datasets
from carob.api.history import import_runs
from carob.api.release import release
from carob.api.review import create_queue
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.serving.ingest import Ingest
from carob.api.serving.trace_uploads import UPLOADS, add_traces
from carob.api.settings import NO_CONFIG
from carob.api.versions import mark_reviewed
from carob.errors import RefusedError
from carob.schema import Run

_DATASET = "support.evalset.json"
_NAME = "bike_shop_support"
_METRICS = ("tool_trajectory_avg_score", "response_match_score")
_TRACES = (("good.otlp.jsonl", "1.4.0"), ("regressed.otlp.jsonl", "1.5.0"))
_JUDGED = "tone.run.json"
# One case describes a conversation to simulate and expects no answers.
_WHERE = "len(turns) > 0"
_SECONDS = 30


def load_demo(folder: GoldenFolder, store: str, uploads: Path = UPLOADS) -> Run:
    """Put the sample dataset into a golden folder, evaluate both releases of the sample agent, and
    return the run of the second. Raises `RefusedError` if the folder has the dataset already."""
    if any(entry.name == _NAME for entry in list_datasets(folder)):
        raise RefusedError(f"there is a dataset {_NAME!r} already", hint="the demo is loaded once")
    with TemporaryDirectory() as scratch:
        files = (_DATASET, f"judged/{_JUDGED}", *(f"traces/{file}" for file, _ in _TRACES))
        for name in files:
            source = resources.files("carob") / "demo" / "data" / name
            (Path(scratch) / Path(name).name).write_bytes(source.read_bytes())
        import_runs(Path(scratch) / _JUDGED, store=store)
        create_queue("latest:bike_shop_tone", "tone", store=store)
        golden = _add_golden(folder, Path(scratch))
        runs: list[Run] = []
        for file, version in _TRACES:
            runs.append(_add_run(store, golden, Path(scratch) / file, version))
            add_traces(uploads, Path(scratch) / file)
        _send(store, Path(scratch) / _TRACES[-1][0])
    return runs[-1]


def _add_golden(folder: GoldenFolder, source: Path) -> Path:
    folder.path.mkdir(parents=True, exist_ok=True)
    add_dataset(folder, source / _DATASET, _DATASET)
    golden = folder.path / _DATASET
    mark_reviewed(golden, None, "approved", by="Mara")
    release(golden, by="Mara", registry=folder.registry)
    return golden


def _add_run(store: str, golden: Path, traces: Path, version: str) -> Run:
    request = RunRequest(
        traces=[traces],
        golden=golden,
        metrics=_METRICS,
        where=_WHERE,
        config=NO_CONFIG,
        store=store,
        labels={"release": version},
        keep_traces=True,
        jobs=1,
    )
    return evaluate(request).run


def _send(store: str, traces: Path) -> None:
    """Receive traces as if the agent had just sent them."""
    with Ingest(store) as ingest:
        for line in traces.read_bytes().splitlines():
            stored = ingest.accept(line, "traces", "json").stored
            if stored:
                stored.result(_SECONDS)
