"""The story of the sample data, loaded into a store: a good release of an agent, then a bad one."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory

from carob.api.golden import GoldenFolder, add_dataset, list_datasets
from carob.api.run_request import RunRequest
from carob.api.runs import evaluate
from carob.api.settings import NO_CONFIG
from carob.errors import RefusedError
from carob.schema import Run

_DATASET = "support.evalset.json"
_NAME = "bike_shop_support"
_METRICS = ("tool_trajectory_avg_score", "response_match_score")
_TRACES = (("good.otlp.jsonl", "1.4.0"), ("regressed.otlp.jsonl", "1.5.0"))
# One case describes a conversation to simulate and expects no answers.
_WHERE = "len(turns) > 0"


def load_demo(folder: GoldenFolder, store: str) -> Run:
    """Put the sample dataset into a golden folder, evaluate both releases of the sample agent, and
    return the run of the second. Raises `RefusedError` if the folder has the dataset already."""
    if any(entry.name == _NAME for entry in list_datasets(folder)):
        raise RefusedError(f"there is a dataset {_NAME!r} already", hint="the demo is loaded once")
    run: Run | None = None
    with TemporaryDirectory() as scratch:
        for name in (_DATASET, *(f"traces/{file}" for file, _ in _TRACES)):
            source = resources.files("carob") / "demo" / "data" / name
            (Path(scratch) / Path(name).name).write_bytes(source.read_bytes())
        folder.path.mkdir(parents=True, exist_ok=True)
        add_dataset(folder, Path(scratch) / _DATASET, _DATASET)
        for file, release in _TRACES:
            request = RunRequest(
                traces=[Path(scratch) / file],
                golden=folder.path / _DATASET,
                metrics=_METRICS,
                where=_WHERE,
                config=NO_CONFIG,
                store=store,
                labels={"release": release},
                keep_traces=True,
            )
            run = evaluate(request).run
    assert run is not None  # noqa: S101 - there are two files
    return run
