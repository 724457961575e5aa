"""Use-cases of runs that are over."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from carob.analysis.summary import summarise, verdict
from carob.config import find_config, load_config
from carob.errors import InputError, UsageError
from carob.files.atomic import replacing
from carob.schema import Run, Trace
from carob.schema.history import HistoryPage, PruneReport, RunEntry, TransferReport, VerifyReport
from carob.store import DEFAULT, Database, is_there, open_store
from carob.store.document import decoded, microseconds, of_json, of_run
from carob.store.history import Wanted, find, label, page
from carob.store.place import check
from carob.store.prune import Retention, prune
from carob.store.runs import keep, read
from carob.store.traces import keep_traces
from carob.store.transfer import lines, take
from carob.store.verify import verify
from carob.versions import git

_AS_WRITTEN = "take the file as Carob wrote it"
_LIMIT = 20
_TREND = 30
_AGE = re.compile(r"(\d{1,5})([hdw])")
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def find_run(name: str, *, store: str | None = None) -> Run:
    """The run in a file that `carob run --format json -o FILE` wrote; or a run in the store, by
    its id or the beginning of it, `latest`, `latest:DATASET`, `branch:NAME` or `release`."""
    if _is_path(name):
        return _genuine(_file(Path(name)), name)
    return decoded(find_document(name, store=store), name)


def find_document(name: str, *, store: str | None = None) -> bytes:
    """The same as the JSON that was written, byte by byte but for white space."""
    if _is_path(name):
        data = _file(Path(name))
        _genuine(data, name)
        return data
    with _opened(store) as database:
        return read(database, find(database, name))


def _genuine(data: bytes, where: str) -> Run:
    """The run in a file, in which nobody has changed a number: neither one that its id was made
    from, nor one that follows from those."""
    run = of_json(data, where).run
    said, counted = run.summary, summarise(run.cases, {})
    if (said.cases, said.metrics) != (counted.cases, counted.metrics):
        raise InputError("the summary is not that of the cases", where=where, hint=_AS_WRITTEN)
    if not run.stopped and run.verdict != verdict(counted):
        message = f"the verdict is {run.verdict!r}, that of the cases is {verdict(counted)!r}"
        raise InputError(message, where=where, hint=_AS_WRITTEN)
    return run


def _is_path(name: str) -> bool:
    """`branch:feature/refunds` is none, though it could be one."""
    with suppress(OSError, ValueError):  # what cannot be the name of a file
        if Path(name).is_file():
            return True
    return ":" not in name and (name.endswith(".json") or os.sep in name)


def _file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error


def list_runs(
    *,
    dataset: str | None = None,
    agent: str | None = None,
    tag: str | None = None,
    labels: Mapping[str, str] | None = None,
    since: str | None = None,
    until: str | None = None,
    limit: int = _LIMIT,
    start: str | None = None,
    store: str | None = None,
) -> HistoryPage:
    """The runs that are kept, newest first; `start` is what the page before calls `next`."""
    named = {"dataset": dataset, "agent": agent, "tag": tag}
    facets = [(kind, value) for kind, value in named.items() if value is not None]
    facets += [("label", f"{key}={value}") for key, value in (labels or {}).items()]
    wanted = Wanted(facets=facets)
    if since is not None:
        wanted = wanted._replace(since=_moment(since))
    if until is not None:
        wanted = wanted._replace(until=_moment(until, end=True))
    with _opened(store) as database:
        return page(database, wanted, limit=limit, start=start)


def earlier_runs(run: Run, *, store: str | None = None) -> tuple[RunEntry, ...]:
    """The runs of the same dataset up to this one, newest first; none, if there is no store."""
    if run.dataset is None or not is_there(store_place(store)):
        return ()
    return list_runs(dataset=run.dataset.name, until=run.created_at, limit=_TREND, store=store).runs


def label_run(name: str, labels: Mapping[str, str], *, store: str | None = None) -> None:
    """Label a run that is kept, such as the baseline that others are held against."""
    check_labels(labels)
    with _opened(store) as database:
        label(database, find(database, name), labels)


def verify_store(*, store: str | None = None) -> VerifyReport:
    """Derive all digests again, and name every number that was changed."""
    with _opened(store) as database:
        return verify(database)


def export_runs(
    path: Path, names: Sequence[str] = (), *, store: str | None = None
) -> TransferReport:
    """Write the store, or some of its runs, to a file of JSON lines; compressed, if it is called
    so."""
    with _opened(store) as database:
        chosen = [find(database, name) for name in names] or None
        executions = contents = 0
        with replacing(path) as file:
            out = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if path.suffix == ".gz" else file
            for line in lines(database, chosen):
                out.write(line)
                executions += line.startswith(b'{"run"')
                contents += line.startswith(b'{"kind"')
            if out is not file:
                out.close()
        return TransferReport(store=str(path), executions=executions, known=0, contents=contents)


def import_runs(path: Path, *, store: str | None = None) -> TransferReport:
    """Take in a file that was exported, or a run that `carob run --format json -o` wrote."""
    with open_store(store_place(store), create=True) as database:
        return take(database, path)


def prune_runs(
    *,
    keep: int | None = None,
    older_than: str | None = None,
    dry: bool = False,
    store: str | None = None,
) -> PruneReport:
    """Remove all but the newest runs, those that are too old, or those that are both. What is
    labelled `baseline` or `release` stays."""
    if keep is None and older_than is None:
        raise UsageError("nothing says what is to go", hint="give --keep, --older-than or both")
    since = None if older_than is None else microseconds(datetime.now(UTC) - _age(older_than))
    with _opened(store) as database:
        return prune(database, Retention(keep=keep, since=since, dry=dry))


@contextmanager
def _opened(store: str | None) -> Generator[Database]:
    with open_store(store_place(store)) as database:
        yield database


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text)
    if not found:
        raise UsageError(f"{text!r} is no age", hint="such as 12h, 90d or 4w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _moment(text: str, *, end: bool = False) -> int:
    """Microseconds since 1970 of a time, or of so long ago; as an end, a day includes itself."""
    if _AGE.fullmatch(text):
        return microseconds(datetime.now(UTC) - _age(text))
    whole_day = timedelta(days=1) if end and len(text) == len("2026-03-01") else timedelta()
    try:
        return microseconds(datetime.fromisoformat(text) + whole_day) - bool(whole_day)
    except (ValueError, OverflowError):
        hint = "such as 2026-03-01, 2026-03-01T12:30:00Z or 7d"
        raise UsageError(f"{text!r} is no time", hint=hint) from None


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
