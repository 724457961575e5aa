"""Stored runs: find, list, label, export, import, prune, verify."""

from __future__ import annotations

import gzip
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from carob.analysis.summary import summarise, verdict
from carob.api.store import check_labels, store_url
from carob.errors import InputError, UsageError
from carob.files.atomic import atomic_writer, check_overwrite
from carob.files.timestamps import is_date, parse_age, parse_time
from carob.schema import Run
from carob.schema.history import HistoryPage, PruneReport, RunEntry, TransferReport, VerifyReport
from carob.store import Database, exists, open_store
from carob.store.document import decode_run, microseconds, parse_document
from carob.store.history import HistoryQuery, find_execution, history_page, label_execution
from carob.store.prune import Retention, prune
from carob.store.runs import read_run
from carob.store.transfer import export_lines, import_file
from carob.store.verify import verify
from carob.text.spelling import did_you_mean

_AS_WRITTEN = "use the file as Carob wrote it"
_LIMIT = 20
_TREND = 30


def find_run(name: str, *, store: str | None = None) -> Run:
    """Find a run: a file written by `carob run --format json -o FILE`, or a stored run by its id or
    a prefix of it, `latest`, `latest~1`, `latest:DATASET`, `branch:NAME` or `release`."""
    if _is_path(name):
        return _decode_intact(_read_file(Path(name)), name)
    return decode_run(find_document(name, store=store), name)


def find_document(name: str, *, store: str | None = None) -> bytes:
    """Find a run and return its JSON as it was written, except for whitespace."""
    if _is_path(name):
        data = _read_file(Path(name))
        _decode_intact(data, name)
        return data
    with _open(store) as database:
        return read_run(database, find_execution(database, name))


def check_groups(run: Run, by: Sequence[str]) -> None:
    """Raise `UsageError` for a property that the run has no groups for. A run has no metadata, so
    that further groups cannot be added to it."""
    known = list(dict.fromkeys(group.by for group in run.summary.groups))
    for name in by:
        if name not in known:
            hint = did_you_mean(name, known) or f"available: {', '.join(known) or 'none'}"
            message = f"cannot break down by {name!r}: {run.id} has no such groups"
            raise UsageError(message, hint=f"{hint}; `carob run --by` adds groups to a run")


def _decode_intact(data: bytes, where: str) -> Run:
    """Decode a run and check that no number was edited: the id covers the results, and summary and
    verdict must follow from them."""
    run = parse_document(data, where).run
    stated, computed = run.summary, summarise(run.cases, {})
    if (stated.cases, stated.metrics) != (computed.cases, computed.metrics):
        raise InputError("the summary does not match the cases", where=where, hint=_AS_WRITTEN)
    if not run.stopped and run.verdict != verdict(computed):
        message = f"the verdict is {run.verdict!r}, but the cases give {verdict(computed)!r}"
        raise InputError(message, where=where, hint=_AS_WRITTEN)
    return run


def _is_path(name: str) -> bool:
    """Return whether a name is a path. `branch:feature/refunds` is not, despite the slash."""
    with suppress(OSError, ValueError):  # not a valid file name
        if Path(name).is_file():
            return True
    return ":" not in name and (name.endswith(".json") or os.sep in name)


def _read_file(path: Path) -> bytes:
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
    """List stored runs, newest first. `start` is the `next` of the previous page."""
    properties = {"dataset": dataset, "agent": agent, "tag": tag}
    facets = [(kind, value) for kind, value in properties.items() if value is not None]
    facets += [("label", f"{key}={value}") for key, value in (labels or {}).items()]
    wanted = HistoryQuery(facets=facets)
    if since is not None:
        wanted = wanted._replace(since=microseconds(parse_time(since)))
    if until is not None:
        wanted = wanted._replace(until=_last_microsecond(until))
    with _open(store) as database:
        return history_page(database, wanted, limit=limit, start=start)


def earlier_runs(run: Run, *, store: str | None = None) -> tuple[RunEntry, ...]:
    """Return the stored runs of the same dataset up to this one, newest first."""
    if run.dataset is None or not exists(store_url(store)):
        return ()
    return list_runs(dataset=run.dataset.name, until=run.created_at, limit=_TREND, store=store).runs


def label_run(name: str, labels: Mapping[str, str], *, store: str | None = None) -> None:
    """Label a stored run, for example as the baseline."""
    check_labels(labels)
    with _open(store) as database:
        label_execution(database, find_execution(database, name), labels)


def verify_store(*, store: str | None = None) -> VerifyReport:
    """Recompute all digests and report every number that was changed."""
    with _open(store) as database:
        return verify(database)


def export_runs(
    path: Path, names: Sequence[str] = (), *, store: str | None = None, force: bool = False
) -> TransferReport:
    """Write all runs, or the named ones, to a file of JSON lines. A name that ends in `.gz` is
    compressed. An existing file is only overwritten with `force`."""
    if not force:
        check_overwrite(path)
    with _open(store) as database:
        selected = [find_execution(database, name) for name in names] or None
        executions = contents = 0
        with atomic_writer(path) as file:
            out = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if path.suffix == ".gz" else file
            for line in export_lines(database, selected):
                out.write(line)
                executions += line.startswith(b'{"run"')
                contents += line.startswith(b'{"kind"')
            if out is not file:
                out.close()
        return TransferReport(store=str(path), executions=executions, known=0, contents=contents)


def import_runs(path: Path, *, store: str | None = None) -> TransferReport:
    """Import a file that was exported, or a run that `carob run --format json -o` wrote."""
    with open_store(store_url(store), create=True) as database:
        return import_file(database, path)


def prune_runs(
    *,
    keep: int | None = None,
    older_than: str | None = None,
    dry: bool = False,
    store: str | None = None,
) -> PruneReport:
    """Remove all but the newest runs, runs of a certain age, or runs that are both. Runs that are
    labeled `baseline` or `release` stay."""
    if keep is None and older_than is None:
        raise UsageError("nothing to prune", hint="pass --keep, --older-than or both")
    since = None if older_than is None else microseconds(datetime.now(UTC) - parse_age(older_than))
    with _open(store) as database:
        return prune(database, Retention(keep=keep, since=since, dry=dry))


@contextmanager
def _open(store: str | None) -> Generator[Database]:
    with open_store(store_url(store)) as database:
        yield database


def _last_microsecond(until: str) -> int:
    """Return the end of a period that includes the time, or the whole day of a date."""
    return microseconds(parse_time(until, end=True)) - is_date(until)
