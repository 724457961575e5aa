"""Commands for stored runs: runs, report, store."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from carob.api import datasets
from carob.api import history as history_api
from carob.api import metrics as metrics_api
from carob.cli.options import (
    FILE,
    command,
    force_option,
    golden_option,
    option,
    output_options,
    parse_pairs,
    report_options,
    store_option,
    subcommand,
)
from carob.cli.output import emit
from carob.report import format_json, render
from carob.report.forms import ReportInputs, format_report
from carob.report.history import (
    format_export,
    format_history,
    format_import,
    format_prune,
    format_store_verification,
)


@command("carob runs --since 7d", "carob runs --dataset support --label branch=main")
@option("--dataset", metavar="NAME", help="Only runs of this dataset.")
@option("--agent", metavar="NAME", help="Only runs in which this agent took part.")
@option("--tag", metavar="TAG", help="Only runs with cases that have this tag.")
@option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only runs with this label. Repeatable.",
)
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
@option("--start", metavar="NEXT", help="Start of the page, as printed by the previous page.")
@store_option
@output_options()
def runs(
    dataset: str | None,
    agent: str | None,
    tag: str | None,
    labels: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int,
    start: str | None,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """List stored runs.

    The newest run comes first.
    """
    page = history_api.list_runs(
        dataset=dataset,
        agent=agent,
        tag=tag,
        labels=parse_pairs(labels),
        since=since,
        until=until,
        limit=limit,
        start=start,
        store=store,
    )
    emit(render(page, form, {"text": lambda: format_history(page)}), output)


@command("carob report latest", "carob report run.json --format html -o report.html")
@click.argument("run")
@option(
    "--by",
    multiple=True,
    metavar="PROPERTY",
    help="Break down by a property that the run has groups for. Repeatable.",
)
@golden_option("Golden data, required by --format sarif.")
@store_option
@report_options
def report(
    run: str,
    by: tuple[str, ...],
    golden: Path | None,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Show a run in any output format.

    RUN is a file written by `carob run --format json`, or a stored run: its id or the
    start of it, `latest`, `latest:DATASET`, `branch:NAME` or any other LABEL:VALUE.
    """
    if form == "json":  # as it was stored, even if this version would write it differently
        emit(format_json(msgspec.Raw(history_api.find_document(run, store=store))), output)
        return
    stored = history_api.find_run(run, store=store)
    history_api.check_groups(stored, by)
    inputs = ReportInputs(
        stored,
        by,
        load_case_lines=lambda: datasets.case_lines(golden) if golden else {},
        load_metrics=metrics_api.metrics,
        load_earlier_runs=lambda: history_api.earlier_runs(stored, store=store),
    )
    emit(format_report(form, inputs), output)


@click.group()
def store() -> None:
    """Verify, copy and prune the store of runs."""


@subcommand(store, "carob store verify", "carob store verify --store runs.db")
@store_option
@output_options()
def verify(store: str | None, form: str, output: Path | None) -> None:
    """Verify the digests of all stored runs.

    Exits 1 if a stored value was changed.
    """
    checked = history_api.verify_store(store=store)
    emit(render(checked, form, {"text": lambda: format_store_verification(checked)}), output)
    sys.exit(1 if checked.problems else 0)


@subcommand(
    store,
    "carob store export runs.jsonl.gz",
    "carob store export baseline.jsonl latest",
    name="export",
)
@click.argument("file", type=FILE)
@click.argument("runs", nargs=-1)
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
    exported = history_api.export_runs(file, runs, store=store, force=force)
    emit(render(exported, form, {"text": lambda: format_export(exported)}), output)


@subcommand(store, "carob store import runs.jsonl.gz", "carob store import run.json", name="import")
@click.argument("file", type=FILE)
@store_option
@output_options()
def import_runs(file: Path, store: str | None, form: str, output: Path | None) -> None:
    """Import exported runs, or a run written by `carob run`.

    Runs that are already stored are skipped.
    """
    imported = history_api.import_runs(file, store=store)
    emit(render(imported, form, {"text": lambda: format_import(imported)}), output)


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
    pruned = history_api.prune_runs(keep=keep, older_than=older_than, dry=dry, store=store)
    emit(render(pruned, form, {"text": lambda: format_prune(pruned)}), output)


@subcommand(store, "carob store label latest baseline=1.4.0")
@click.argument("run")
@click.argument("labels", nargs=-1, required=True, metavar="NAME=VALUE...")
@store_option
def label(run: str, labels: tuple[str, ...], store: str | None) -> None:
    """Add labels to a stored run."""
    history_api.label_run(run, parse_pairs(labels), store=store)
