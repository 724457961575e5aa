"""Where runs are stored, and saving one. A run needs nothing else of the store."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from carob.config import Config, find_config, load_config
from carob.errors import UsageError, require_packages
from carob.schema import Run, Trace
from carob.store import DEFAULT, open_store
from carob.store.blobs import save_traces
from carob.store.document import split_run
from carob.store.inbox import inbox_url
from carob.store.runs import LONGEST_FACET, label_text, save_execution
from carob.store.url import check_store_url, is_postgres, store_place

_LABEL = re.compile(r"[A-Za-z][\w.-]{0,63}")
_CI_BRANCHES = ("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
"""Environment variables with the branch: CI systems check out a commit, so git knows none."""


def save_run(
    run: Run,
    *,
    store: str | None = None,
    labels: Mapping[str, str] | None = None,
    traces: Iterable[Trace] = (),
    unfinished: str | None = None,
) -> None:
    """Save a run and those of the traces that its cases were scored with. It takes the place of
    the run in progress with the key `unfinished`."""
    with open_store(store_url(store), create=True) as database:
        document = split_run(run)
        execution = save_execution(database, document, labels or {}, unfinished=unfinished)
        save_traces(database, execution, traces)


def prepare_store(store: str) -> None:
    """Create a store or bring it up to date, so that a server finds problems before it starts."""
    with open_store(store, create=True):
        pass


def store_url(store: str | None = None, *, config: Config | Path | None = None) -> str:
    """Return the path or URL of the store: the argument, `CAROB_STORE`, the config, or the
    default. Without a config, the `carob.toml` of the working directory is read."""
    url = store or os.environ.get("CAROB_STORE") or _find_configured_store(config) or DEFAULT
    check_store_url(url)
    if is_postgres(url):
        require_packages("a PostgreSQL store", "psycopg", extra="postgres")
    return url


def hide_store(where: str, url: str) -> str:
    """Replace the path or URL of a store in the place of an error by `store`."""
    for place in (store_place(inbox_url(url)), store_place(url)):
        if where.startswith(place):
            return f"store{where.removeprefix(place)}"
    return where


def store_arguments(url: str) -> tuple[str, ...]:
    """Return the arguments with which a command finds a store; none if it does anyway. URLs contain
    passwords and names of hosts: commands find these by `CAROB_STORE`."""
    if is_postgres(url) or url == (_find_configured_store(None) or DEFAULT):
        return ()
    return ("--store", url)


def _find_configured_store(config: Config | Path | None) -> str | None:
    if isinstance(config, Config):
        return config.store
    path = config or find_config(Path.cwd())
    return load_config(path).store if path else None


def git_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Return the labels, with the branch and commit of the working directory unless given."""
    from carob.versions import git  # late: imports subprocess, which unsaved runs do not need

    check_labels(labels)
    folder = Path.cwd()
    commit = git.current_commit(folder)
    if commit is None:
        return dict(labels)
    derived = {"branch": git.current_branch(folder) or _ci_branch(), "commit": commit}
    return {key: value for key, value in derived.items() if value} | dict(labels)


def _ci_branch() -> str | None:
    return next((os.environ[name] for name in _CI_BRANCHES if os.environ.get(name)), None)


def check_labels(labels: Mapping[str, str]) -> None:
    """Raise `UsageError` for a label that could not be looked up."""
    for key, value in labels.items():
        if not _LABEL.fullmatch(key) or key == "latest":
            hint = "use letters, digits, `.`, `_` and `-`, as in branch=main"
            raise UsageError(f"invalid label name {key!r:.80}", hint=hint)
        length = len(label_text(key, value))
        if length > LONGEST_FACET:  # it would be cut, and found by what it has not
            message = f"the label {key!r} has {length:,} characters, expected at most"
            raise UsageError(f"{message} {LONGEST_FACET}")


def stored_bytes(store: str) -> int | None:
    """Return the bytes that the files of a store and its inbox take; `None` for PostgreSQL."""
    if is_postgres(store):
        return None
    path = Path(store)
    files = [path.with_name(path.name + end) for end in ("", "-wal")]
    inbox = path.with_suffix(".inbox.db")
    files += [inbox.with_name(inbox.name + end) for end in ("", "-wal")]
    return sum(file.stat().st_size for file in files if file.is_file())
