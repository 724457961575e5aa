"""Commands for stored runs: runs, store."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import click

from carob import api
from carob.cli.names import DATASET, RUN
from carob.cli.options import (
    FILE,
    command,
    force_option,
    option,
    output_options,
    parse_pairs,
    store_option,
    subcommand,
)
from carob.cli.output import emit, emit_result
from carob.cli.progress import progress_line
from carob.report.history import (
    format_export,
    format_history,
    format_import,
    format_prune,
    format_store_verification,
)
from carob.schema import Verdict


@command("carob runs --since 7d", "carob runs --dataset support --label branch=main")
@option("--dataset", type=DATASET, metavar="NAME", help="Only runs of this dataset.")
@option("--agent", metavar="NAME", help="Only runs in which this agent took part.")
@option("--tag", metavar="TAG", help="Only runs with cases that have this tag.")
@option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only runs with this label. Repeatable.",
)
@option("--verdict", type=click.Choice(get_args(Verdict)), help="Only runs with this verdict.")
@option("--text", metavar="WORDS", help="Only runs with these words in id, dataset or labels.")
@option("--since", metavar="TIME", help="Only runs since a date, or an age such as 7d.")
@option("--until", metavar="TIME", help="Only runs until a date, or an age such as 7d.")
@option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="Maximum number of runs.",
)
@option(
    "--sort",
    type=click.Choice(["worst", "dataset"]),
    help="Order of the listed runs.",
    show_default="newest first",
)
@option("--start", metavar="NEXT", help="Start of the page, as printed by the previous page.")
@store_option
@output_options()
def runs(
    dataset: str | None,
    agent: str | None,
    tag: str | None,
    labels: tuple[str, ...],
    verdict: Verdict | None,
    text: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    sort: Literal["worst", "dataset"] | None,
    start: str | None,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """List stored runs.

    The newest run comes first. Each is shown with the name by which other commands
    find it, such as latest~1, and with its change since the run before of the same
    dataset: the difference of the pass rate, and a different verdict.
    """
    page = api.history.search_runs(
        dataset=dataset,
        agent=agent,
        tag=tag,
        labels=parse_pairs(labels, "--label"),
        verdict=verdict,
        text=text,
        since=since,
        until=until,
        sort=sort,
        limit=limit,
        start=start,
        store=store,
    )
    newest = None
    if not any((agent, tag, verdict, text, until, sort, start)):
        newest = _name_of_newest(dataset, parse_pairs(labels, "--label"))
    emit_result(page, form, output, partial(format_history, page, newest))


def _name_of_newest(dataset: str | None, labels: dict[str, str]) -> str | None:
    """Return the name of the newest run that the filters select, if there is such a name."""
    if not labels:
        return f"latest:{dataset}" if dataset else "latest"
    ((key, value), *others) = labels.items()
    return None if dataset or others else f"{key}:{value}"


@click.group()
def store() -> None:
    """Verify, copy and prune the store of runs."""


@subcommand(store, "carob store verify", "carob store verify --store runs.db")
@option("--head", metavar="DIGEST", help="Head of an earlier `store head` that must still hold.")
@store_option
@output_options()
def verify(head: str | None, store: str | None, form: str, output: Path | None) -> None:
    """Verify that stored runs are as they were saved.

    Checks the digests of all rows, and that the ledger and the runs agree: no run,
    label or trace was changed, deleted or added by anything but Carob. Someone who
    rewrites the ledger as well is only noticed with --head. Exits 1 on a problem.
    """
    with progress_line("verifying") as line:
        progress = line.of("verifying", unit_name=" runs")
        checked = api.history.verify_store(store=store, head=head, progress=progress)
    emit_result(checked, form, output, partial(format_store_verification, checked))
    sys.exit(1 if checked.problems else 0)


@subcommand(store, "carob store head", "carob store head --store runs.db")
@store_option
def head(store: str | None) -> None:
    """Print the digest of everything done to the store so far.

    Keep it outside the store, in git or as a variable of CI, and pass it to
    `carob store verify --head`.
    """
    emit(api.history.store_head(store=store) + "\n", None)


@subcommand(
    store,
    "carob store export runs.jsonl.gz",
    "carob store export baseline.jsonl latest",
    name="export",
)
@click.argument("file", type=FILE)
@click.argument("runs", nargs=-1, type=RUN)
@force_option
@store_option
@output_options()
def export_runs(
    file: Path,
    runs: tuple[str, ...],
    force: bool,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Export all runs, or the given RUNS, to a file.

    The file contains JSON lines, compressed if its name ends with .gz.
    """
    with progress_line("exporting") as line:
        progress = line.of("exporting", unit_name=" runs")
        exported = api.history.export_runs(file, runs, store=store, force=force, progress=progress)
    emit_result(exported, form, output, partial(format_export, exported))


@subcommand(store, "carob store import runs.jsonl.gz", "carob store import run.json", name="import")
@click.argument("file", type=FILE)
@store_option
@output_options()
def import_runs(file: Path, store: str | None, form: str, output: Path | None) -> None:
    """Import exported runs, or a run written by `carob run`.

    Runs that are already stored are skipped.
    """
    with progress_line("importing") as line:
        imported = api.history.import_runs(file, store=store, progress=line.reading)
    emit_result(imported, form, output, partial(format_import, imported))


@subcommand(store, "carob store prune --keep 100", "carob store prune --older-than 90d --dry-run")
@option("--keep", type=click.IntRange(min=0), metavar="N", help="Keep the newest N runs.")
@option("--older-than", metavar="AGE", help="Remove only older runs: 12h, 90d, 4w.")
@option("--dry-run", "dry", is_flag=True, help="Show what would be removed.")
@store_option
@output_options()
def prune(
    keep: int | None,
    older_than: str | None,
    dry: bool,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Remove old runs from the store.

    Runs labeled `baseline` or `release` are kept. With both --keep and --older-than,
    a run is removed only if both apply.
    """
    with progress_line("removing runs") as line:
        progress = line.of("removing", unit_name=" runs")
        pruned = api.history.prune_runs(
            keep=keep, older_than=older_than, dry=dry, store=store, progress=progress
        )
    emit_result(pruned, form, output, partial(format_prune, pruned))


@subcommand(store, "carob store label latest baseline=1.4.0")
@click.argument("run", type=RUN)
@click.argument("labels", nargs=-1, required=True, metavar="NAME=VALUE...")
@store_option
def label(run: str, labels: tuple[str, ...], store: str | None) -> None:
    """Add labels to a stored run."""
    api.history.label_run(run, parse_pairs(labels, "LABELS"), store=store)
