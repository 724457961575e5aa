"""Stored runs: find, list, label, export, import, prune, verify."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from carob.analysis.summary import summarise, verdict
from carob.api.store import check_labels, store_url
from carob.errors import InputError, UsageError
from carob.files.atomic import atomic_writer, check_overwrite
from carob.files.timestamps import is_date, parse_age, parse_time
from carob.schema import CaseResult, Run
from carob.schema.base import prepare_type
from carob.schema.history import (
    CasePage,
    HistoryPage,
    PruneReport,
    RunChange,
    RunEntry,
    TransferReport,
    VerifyReport,
)
from carob.schema.problem import ProgressListener, ignore, watch
from carob.store import Database, exists, open_store
from carob.store.document import DocumentParts, RunDocument, microseconds
from carob.store.history import (
    HistoryQuery,
    count_matches,
    count_status,
    find_execution,
    history_page,
    label_execution,
)
from carob.store.ledger import ledger_head
from carob.store.prune import Retention, prune
from carob.store.run_file import read_run_file
from carob.store.runs import CaseQuery, read_cases, read_parts, read_run
from carob.store.transfer import count_executions, export_lines, import_file
from carob.store.verify import verify
from carob.text.spelling import did_you_mean

_AS_WRITTEN = "use the file as Carob wrote it"
_HEAD = r"[0-9a-f]{32}"
_LIMIT = 20
_TREND = 30
_SEARCHED_PAGES = 20
RunSort = Literal["worst", "dataset"]


def find_run(name: str, *, store: str | None = None, progress: ProgressListener = ignore) -> Run:
    """Find a run: a file written by `carob run --format json -o FILE`, or a stored run by its id or
    a prefix of it, `latest`, `latest~1`, `latest:DATASET`, `branch:NAME` or `release`. `progress`
    receives the number of cases that were read."""
    if _is_path(name):
        return _read_intact(Path(name), progress).run
    return stored_run(name, store=store, progress=progress)


def find_document(
    name: str, *, store: str | None = None, progress: ProgressListener = ignore
) -> DocumentParts:
    """Find a run and return its JSON as it was written, except for whitespace. `progress` receives
    the number of cases that were read."""
    if _is_path(name):
        document = _read_intact(Path(name), progress)
        return DocumentParts(document.head, document.bodies)
    with _open(store) as database:
        return read_parts(database, find_execution(database, name), progress)


def stored_run(name: str, *, store: str | None = None, progress: ProgressListener = ignore) -> Run:
    """Find a run in the store. Unlike `find_run` this opens no file, whatever the name is."""
    with _open(store) as database:
        return read_parts(database, find_execution(database, name), progress).decode(name).run


def stored_document(name: str, *, store: str | None = None) -> bytes:
    """Find a run in the store and return its JSON as it was written, except for whitespace."""
    with _open(store) as database:
        return read_run(database, find_execution(database, name))


def stored_cases(
    name: str,
    *,
    status: str | None = None,
    case: str | None = None,
    limit: int = _LIMIT,
    after: int | None = None,
    store: str | None = None,
) -> CasePage:
    """List the cases of a stored run in the order of the dataset. `after` is the `next` of the page
    before."""
    with _open(store) as database:
        execution = find_execution(database, name)
        wanted = CaseQuery(status=status, case=case, after=-1 if after is None else after)
        rows = read_cases(database, execution, wanted, limit + 1)
        is_first = after is None and case is None
        total = count_status(database, execution, status) if is_first else None
    shown = rows[:limit]
    decode = msgspec.json.Decoder(prepare_type(CaseResult)).decode
    return CasePage(
        items=tuple(decode(row.body) for row in shown),
        next=shown[-1].place if len(rows) > limit else None,
        total=total,
    )


def check_groups(run: Run, by: Sequence[str]) -> None:
    """Raise `UsageError` for a property that the run has no groups for. A run has no metadata, so
    that further groups cannot be added to it."""
    known = list(dict.fromkeys(group.by for group in run.summary.groups))
    for name in by:
        if name not in known:
            hint = did_you_mean(name, known) or f"available: {', '.join(known) or 'none'}"
            message = f"cannot break down by {name!r}: {run.id} has no such groups"
            raise UsageError(message, hint=f"{hint}; `carob run --by` adds groups to a run")


def _read_intact(path: Path, progress: ProgressListener = ignore) -> RunDocument:
    """Read a run from a file and check that no number was edited: the id covers the results, and
    summary and verdict must follow from them."""
    document = read_run_file(path, progress)
    run, where = document.run, str(path)
    stated, computed = run.summary, summarise(watch(run.cases, progress), {})
    if (stated.cases, stated.metrics) != (computed.cases, computed.metrics):
        raise InputError("the summary does not match the cases", where=where, hint=_AS_WRITTEN)
    if not run.stopped and run.verdict != verdict(computed):
        message = f"the verdict is {run.verdict!r}, but the cases give {verdict(computed)!r}"
        raise InputError(message, where=where, hint=_AS_WRITTEN)
    return document


def _is_path(name: str) -> bool:
    """Return whether a name is a path. `branch:feature/refunds` is not, despite the slash."""
    with suppress(OSError, ValueError):  # not a valid file name
        if Path(name).is_file():
            return True
    return ":" not in name and (name.endswith(".json") or os.sep in name)


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
    """List stored runs, newest first, each with its change since the run before of the same dataset
    that the filters select. `start` is the `next` of the previous page."""
    properties = {"dataset": dataset, "agent": agent, "tag": tag}
    facets = [(kind, value) for kind, value in properties.items() if value is not None]
    facets += [("label", f"{key}={value}") for key, value in (labels or {}).items()]
    wanted = HistoryQuery(facets=facets)
    if since is not None:
        wanted = wanted._replace(since=microseconds(parse_time(since)))
    if until is not None:
        wanted = wanted._replace(until=_last_microsecond(until))
    with _open(store) as database:
        page = history_page(database, wanted, limit=limit, start=start)
        before = _runs_before_page(database, wanted, page)
        total = count_matches(database, wanted) if start is None else None
    changes = [_change(run, before) for run in reversed(page.runs)]
    runs = zip(page.runs, reversed(changes), strict=True)
    entries = tuple(msgspec.structs.replace(run, change=change) for run, change in runs)
    return msgspec.structs.replace(page, runs=entries, total=total)


def search_runs(
    *,
    dataset: str | None = None,
    agent: str | None = None,
    tag: str | None = None,
    labels: Mapping[str, str] | None = None,
    verdict: str | None = None,
    text: str | None = None,
    since: str | None = None,
    until: str | None = None,
    sort: RunSort | None = None,
    limit: int = _LIMIT,
    start: str | None = None,
    store: str | None = None,
) -> HistoryPage:
    """List runs as `list_runs` does, also by verdict and by words in their id, dataset or labels.
    At most some thousand runs are searched for one page; its `next` goes on behind them. `sort` is
    the order within the page, by default the newest first."""
    words = (text or "").casefold().split()
    runs: list[RunEntry] = []
    total = None
    for _ in range(_SEARCHED_PAGES if words or verdict else 1):
        page = list_runs(
            dataset=dataset,
            agent=agent,
            tag=tag,
            labels=labels,
            since=since,
            until=until,
            limit=limit,
            start=start,
            store=store,
        )
        runs += [run for run in page.runs if _matches(run, verdict, words)]
        total = None if words or verdict else page.total
        start = page.next
        if start is None or len(runs) >= limit:
            break
    ordered = sorted(runs, key=_SORTS[sort]) if sort else runs
    return HistoryPage(runs=tuple(ordered), next=start, total=total)


def _pass_share(run: RunEntry) -> float:
    return run.cases.passed / run.cases.total if run.cases.total else 0.0


def _dataset_name(run: RunEntry) -> str:
    return run.dataset or ""


_SORTS: Mapping[RunSort, Callable[[RunEntry], float | str]] = {
    "worst": _pass_share,
    "dataset": _dataset_name,
}


def _matches(run: RunEntry, verdict: str | None, words: Sequence[str]) -> bool:
    if verdict is not None and run.verdict != verdict:
        return False
    labels = (f"{name}={value}" for name, value in run.labels.items())
    text = " ".join((run.id, run.dataset or "", run.version or "", *labels)).casefold()
    return all(word in text for word in words)


def _runs_before_page(
    database: Database, query: HistoryQuery, page: HistoryPage
) -> dict[str, RunEntry]:
    """Return the newest run of each dataset on the page that is older than the page."""
    names = {run.dataset for run in page.runs if run.dataset} if page.next else ()
    before: dict[str, RunEntry] = {}
    for name in names:
        wanted = query._replace(facets=[("dataset", name), *query.facets])
        for run in history_page(database, wanted, limit=1, start=page.next).runs:
            before[name] = run
    return before


def _change(run: RunEntry, before: dict[str, RunEntry]) -> RunChange | None:
    """Compare a run with the last one of its dataset, and remember it as the last one."""
    if run.dataset is None:
        return None
    last, before[run.dataset] = before.get(run.dataset), run
    if last is None:
        return None
    rates = _pass_rate(last), _pass_rate(run)
    same_metrics = run.means.keys() == last.means.keys()
    comparable = same_metrics and None not in rates
    return RunChange(
        same_results=run.id == last.id,
        verdict_before=last.verdict,
        pass_rate=round((rates[1] or 0) - (rates[0] or 0), 6) if comparable else None,
        same_metrics=same_metrics,
    )


def _pass_rate(run: RunEntry) -> float | None:
    cases = run.cases
    decided = cases.passed + cases.failed + cases.unscored + cases.errors
    return cases.passed / decided if decided else None


def earlier_runs(run: Run, *, store: str | None = None) -> tuple[RunEntry, ...]:
    """Return the stored runs of the same dataset up to this one, newest first."""
    if run.dataset is None or not exists(store_url(store)):
        return ()
    return list_runs(dataset=run.dataset.name, until=run.created_at, limit=_TREND, store=store).runs


def store_exists(*, store: str | None = None) -> bool:
    """Return whether anything was stored yet."""
    return exists(store_url(store))


def label_run(name: str, labels: Mapping[str, str], *, store: str | None = None) -> None:
    """Label a stored run, for example as the baseline."""
    check_labels(labels)
    with _open(store) as database:
        label_execution(database, find_execution(database, name), labels)


def verify_store(
    *,
    store: str | None = None,
    head: str | None = None,
    progress: ProgressListener = ignore,
) -> VerifyReport:
    """Recompute all digests and report everything that was changed, deleted or added behind
    Carob's back. With `head`, which an earlier report printed, also report a rewritten history."""
    with _open(store) as database:
        checked = _check_head(head) if head is not None else None
        return verify(database, head=checked, progress=progress)


def _check_head(head: str) -> str:
    if not re.fullmatch(_HEAD, head):
        message = f"invalid head {head!r}, expected 32 hexadecimal digits"
        raise UsageError(message, hint="use a digest that `carob store head` printed")
    return head


def store_head(*, store: str | None = None) -> str:
    """Return the digest of everything done to the store so far, to check it against later."""
    with _open(store) as database:
        head = ledger_head(database)
        if head is None:
            hint = "`carob run` saves every run in the store"
            raise InputError("the store is empty", where=database.where, hint=hint)
        return head


def export_runs(
    path: Path,
    names: Sequence[str] = (),
    *,
    store: str | None = None,
    force: bool = False,
    progress: ProgressListener = ignore,
) -> TransferReport:
    """Write all runs, or the named ones, to a file of JSON lines. A name that ends in `.gz` is
    compressed. An existing file is only overwritten with `force`."""
    if not force:
        check_overwrite(path)
    with _open(store) as database:
        selected = [find_execution(database, name) for name in names] or None
        total = len(selected) if selected else count_executions(database)
        executions = contents = labels = 0
        with atomic_writer(path) as file:
            out = gzip.GzipFile(fileobj=file, mode="wb", mtime=0) if path.suffix == ".gz" else file
            for line in export_lines(database, selected):
                out.write(line)
                executions += line.startswith(b'{"run"')
                contents += line.startswith(b'{"kind"')
                labels += line.count(b'"reviewer":') if line.startswith(b'{"queue"') else 0
                progress(executions, total)
            if out is not file:
                out.close()
        return TransferReport(str(path), executions, 0, contents, labels)


def import_runs(
    path: Path, *, store: str | None = None, progress: ProgressListener = ignore
) -> TransferReport:
    """Import a file that was exported, or a run that `carob run --format json -o` wrote."""
    with open_store(store_url(store), create=True) as database:
        return import_file(database, path, progress)


def prune_runs(
    *,
    keep: int | None = None,
    older_than: str | None = None,
    dry: bool = False,
    store: str | None = None,
    progress: ProgressListener = ignore,
) -> PruneReport:
    """Remove all but the newest runs, runs of a certain age, or runs that are both. Runs that are
    labeled `baseline` or `release` stay. `progress` receives the number of removed runs."""
    if keep is None and older_than is None:
        raise UsageError("nothing to prune", hint="pass --keep, --older-than or both")
    since = None if older_than is None else microseconds(datetime.now(UTC) - parse_age(older_than))
    with _open(store) as database:
        return prune(database, Retention(keep=keep, since=since, dry=dry), progress)


@contextmanager
def _open(store: str | None) -> Generator[Database]:
    with open_store(store_url(store)) as database:
        yield database


def _last_microsecond(until: str) -> int:
    """Return the end of a period that includes the time, or the whole day of a date."""
    return microseconds(parse_time(until, end=True)) - is_date(until)
