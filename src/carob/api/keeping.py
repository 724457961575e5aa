"""Keeping a run. All that a run needs of the store is here, and nothing else."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from carob.config import find_config, load_config
from carob.errors import UsageError
from carob.schema import Run, Trace
from carob.store import DEFAULT, open_store
from carob.store.document import of_run
from carob.store.place import check
from carob.store.runs import keep
from carob.store.traces import keep_traces
from carob.versions import git

_KEY = re.compile(r"[A-Za-z][\w.-]{0,63}")
_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
"""Where CI systems, which check out a commit, say what the branch is."""


def keep_run(
    run: Run,
    *,
    store: str | None = None,
    labels: Mapping[str, str] | None = None,
    traces: Iterable[Trace] = (),
) -> None:
    """Keep a run, and those of the traces that it was made from."""
    with open_store(store_place(store), create=True) as database:
        execution = keep(database, of_run(run), labels or {})
        keep_traces(database, execution, traces)


def store_place(given: str | None = None, *, config: Path | None = None) -> str:
    """Where runs are kept: as given, as CAROB_STORE says, as `carob.toml` says, or `.carob`."""
    place = given or os.environ.get("CAROB_STORE") or _configured(config) or DEFAULT
    check(place)
    return place


def _configured(config: Path | None) -> str | None:
    path = config or find_config(Path.cwd())
    return load_config(path).store if path else None


def own_labels(given: Mapping[str, str]) -> dict[str, str]:
    """The labels that are given, and what git says of the moment."""
    check_labels(given)
    here = Path.cwd()
    commit = git.commit(here)
    if commit is None:
        return dict(given)
    found = {"branch": git.branch(here) or _ci_branch(), "commit": commit}
    return {key: value for key, value in found.items() if value} | dict(given)


def _ci_branch() -> str | None:
    return next((os.environ[name] for name in _BRANCHES if os.environ.get(name)), None)


def check_labels(labels: Mapping[str, str]) -> None:
    """Fail for a label that could not be looked up."""
    for key in labels:
        if not _KEY.fullmatch(key) or key == "latest":
            hint = "such as branch=main: letters, digits, `.`, `_` and `-`"
            raise UsageError(f"{key!r} cannot be the name of a label", hint=hint)
