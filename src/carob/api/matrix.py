"""Runs over all combinations of settings, such as models and prompts, for one leaderboard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from hashlib import blake2b
from itertools import product
from typing import NamedTuple, cast

import msgspec

from carob.api.history import list_runs, store_exists
from carob.api.leaderboard import BATCH, CELL
from carob.api.live.targets import configured_target, named_target
from carob.api.live_request import LiveRequest
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.evaluation import Evaluation
from carob.api.runs import evaluate
from carob.api.settings import load_trusted
from carob.api.store import store_url
from carob.config import Config
from carob.config.trust import untrusted_error
from carob.errors import UsageError
from carob.schema import Json
from carob.schema.problem import ignore
from carob.text.spelling import did_you_mean

_PLAIN_AXES = ("target", "model", "prompt", "traces", "judge", "profile")
_MODELS = ("chat", "responses")
"""Targets that are models: their name contains the model, and the prompt is the system's."""
_OPTION = "option."
_MAX_CELLS = 1000


class MatrixCell(NamedTuple):
    """One combination: the name of the value on each axis, and the values."""

    names: dict[str, str]
    values: dict[str, Json]

    @property
    def title(self) -> str:
        """The cell as people write it."""
        return ", ".join(f"{axis}={name}" for axis, name in self.names.items())


class MatrixRun(NamedTuple):
    """The runs of a matrix."""

    batch: str
    cells: tuple[MatrixCell, ...]
    evaluations: dict[str, Evaluation]
    """The runs that were made now, by the title of their cell; others were finished before."""

    def passed(self, *, allow_unscored: bool = False) -> bool:
        """Return whether every run that was made passed."""
        runs = self.evaluations.values()
        return all(run.passed(allow_unscored=allow_unscored) for run in runs)


def run_matrix(
    request: RunRequest,
    listeners: Listeners | None = None,
    *,
    announce: Callable[[str], None] = ignore,
) -> MatrixRun:
    """Make one run for each cell of the config's matrix. Each is labelled with the batch and with
    its value on each axis. With `resume`, cells whose run is stored are skipped, and an interrupted
    one is continued. `announce` receives the title of each cell before its run."""
    if not request.save:
        raise UsageError("a matrix of runs must be saved", hint="remove --no-store")
    config = _load(request)
    cells = [*_cells(config)]
    batch = request.labels.get(BATCH) or _batch_name(config, request)
    store = store_url(request.store, config=config)
    finished = _find_finished_cells(batch, store) if request.resume else set[str]()
    evaluations: dict[str, Evaluation] = {}
    for cell in cells:
        if cell.title in finished:
            continue
        announce(cell.title)
        evaluations[cell.title] = evaluate(_cell_request(request, config, cell, batch), listeners)
    return MatrixRun(batch, tuple(cells), evaluations)


def _load(request: RunRequest) -> Config:
    config = request.config
    if not isinstance(config, Config):
        config = load_trusted(config, trust_all=request.trust_config)
    if not config.matrix:
        hint = "add tables such as [matrix.target] to carob.toml"
        raise UsageError("the config has no matrix", where=config.source or None, hint=hint)
    withheld = [item for item in config.withheld if item.name.startswith("matrix.")]
    if withheld:
        raise untrusted_error(config.source, config.withheld)
    for axis in config.matrix:
        if axis not in _PLAIN_AXES and "." not in axis:
            names = ", ".join([*_PLAIN_AXES, "option.NAME", "METRIC.PARAMETER"])
            hint = did_you_mean(axis, _PLAIN_AXES) or f"expected one of: {names}"
            raise UsageError(f"unknown axis {axis!r}", where=config.source, hint=hint)
    return config


def _cells(config: Config) -> Iterator[MatrixCell]:
    axes = config.matrix
    total = reduce(lambda number, values: number * len(values), axes.values(), 1)
    if total > _MAX_CELLS:
        message = f"the matrix has {total:,} cells, more than {_MAX_CELLS:,}"
        raise UsageError(message, where=config.source)
    for names in product(*axes.values()):
        chosen = dict(zip(axes, names, strict=True))
        yield MatrixCell(chosen, {axis: axes[axis][name] for axis, name in chosen.items()})


def _batch_name(config: Config, request: RunRequest) -> str:
    """Return a name that the same matrix over the same data gets again, so that it can resume."""
    golden = request.golden if isinstance(request.golden, str) else str(request.golden or "")
    inputs = [config.matrix, golden or config.golden, [str(metric) for metric in request.metrics]]
    data = msgspec.json.encode(inputs, order="deterministic")
    return f"matrix-{blake2b(data, digest_size=4).hexdigest()}"


def _find_finished_cells(batch: str, store: str) -> set[str]:
    if not store_exists(store=store):
        return set()
    runs = list_runs(labels={BATCH: batch}, limit=_MAX_CELLS, store=store).runs
    return {run.labels.get(CELL, "") for run in runs}


def _cell_request(request: RunRequest, config: Config, cell: MatrixCell, batch: str) -> RunRequest:
    values = cell.values
    labels = {**request.labels, BATCH: batch, CELL: cell.title, **cell.names}
    changes: dict[str, object] = {"labels": labels, "config": config}
    if "traces" in values:
        changes["traces"] = (str(values["traces"]),)
    if "profile" in values:
        changes["profile"] = str(values["profile"])
    if "judge" in values:
        changes["judge"] = _with_model(request, str(values["judge"]))
    options = {
        axis.removeprefix(_OPTION): value
        for axis, value in values.items()
        if axis.startswith(_OPTION)
    }
    if options or {"target", "model", "prompt"} & values.keys():
        changes["live"] = _live_request(request, config, values, options)
    params = {
        axis: msgspec.json.encode(value).decode()
        for axis, value in values.items()
        if axis not in _PLAIN_AXES and not axis.startswith(_OPTION)
    }
    changes["params"] = {**request.params, **params}
    return msgspec.structs.replace(request, **changes)


def _with_model(request: RunRequest, model: str) -> object:
    judge = request.judge
    return {**judge, "model": model} if isinstance(judge, Mapping) else model


def _live_request(
    request: RunRequest, config: Config, values: Mapping[str, Json], options: dict[str, Json]
) -> LiveRequest:
    live = request.live or LiveRequest(target={})
    named = cast("object", live.target)
    flags = dict(cast("Mapping[str, object]", named)) if isinstance(named, Mapping) else {}
    if "target" in values:
        flags["name"] = values["target"]
    name = str(flags.get("name") or "")
    base = named_target(config, name) if name in config.targets else configured_target(config)
    scheme = (base.name if base and (not name or name in config.targets) else name).partition(":")[
        0
    ]
    if "model" in values and scheme in _MODELS:
        if base and base.withheld:
            raise untrusted_error(base.source, base.withheld)
        # A name replaces that of the config's target, and its other settings stay.
        own = {"url": base.url, "key_env": base.key_env, "headers": base.headers} if base else {}
        flags = {**own, **{key: value for key, value in flags.items() if value is not None}}
        flags["name"] = f"{scheme}:{values['model']}"
    elif "model" in values:
        options["model"] = values["model"]
    if "prompt" in values:
        options["system" if scheme in _MODELS else "prompt"] = values["prompt"]
    if options:
        flags["options"] = {**(base.options if base else {}), **options}
    return msgspec.structs.replace(live, target=flags)
