"""`carob runs`, `carob report` and `carob store`: runs that are over."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import msgspec

from carob.api import datasets
from carob.api import history as history_api
from carob.api import metrics as metrics_api
from carob.cli.options import FILE
from carob.cli.output import emit, output_options, pairs
from carob.report import history, render
from carob.report.forms import RUN_FORMS, run_forms

_store = click.option("--store", metavar="PATH|URL", help="The store, if not .carob/carob.db.")


@click.command()
@click.option("--dataset", help="Only runs of this dataset.")
@click.option("--agent", help="Only runs in which this agent acted.")
@click.option("--tag", help="Only runs with cases of this tag.")
@click.option(
    "--label", "labels", multiple=True, metavar="NAME=VALUE", help="Only with this label."
)
@click.option("--since", metavar="TIME", help="Not before: 2026-03-01, or 7d for so long ago.")
@click.option("--until", metavar="TIME", help="Not after.")
@click.option("--limit", type=click.IntRange(1, 1000), default=20, show_default=True)
@click.option("--start", metavar="NEXT", help="Where the page before ended.")
@_store
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
    """List the runs that are kept, newest first."""
    found = history_api.list_runs(
        dataset=dataset,
        agent=agent,
        tag=tag,
        labels=pairs(labels),
        since=since,
        until=until,
        limit=limit,
        start=start,
        store=store,
    )
    emit(render(found, form, {"text": lambda: history.text(found)}), output)


@click.command()
@click.argument("run")
@click.option("--by", multiple=True, help="Break down by agent, tag, phase, difficulty, …")
@click.option("-g", "--golden", type=FILE, help="Golden data, for the lines that SARIF names.")
@_store
@output_options(*RUN_FORMS)
def report(
    run: str,
    by: tuple[str, ...],
    golden: Path | None,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Show a run again.

    RUN is a file that `carob run --format json` wrote, or a run in the store: its id or the
    beginning of it, `latest`, `latest:DATASET`, `branch:NAME`, or any other LABEL:VALUE.
    """
    if form == "json":  # as it was printed, whatever this version would make of it
        emit(render(msgspec.Raw(history_api.find_document(run, store=store)), form, {}), output)
        return
    found = history_api.find_run(run, store=store)
    forms = run_forms(
        found,
        by=by,
        places=lambda: datasets.case_lines(golden) if golden else {},
        metrics=metrics_api.metrics,
        earlier=lambda: history_api.earlier_runs(found, store=store),
    )
    emit(render(found, form, forms), output)


@click.group()
def store() -> None:
    """Check, copy and clear out the store that runs are kept in."""


@store.command()
@_store
@output_options()
def verify(store: str | None, form: str, output: Path | None) -> None:
    """Derive all digests again and name every number that was changed.

    Exit code 1 if there is one.
    """
    found = history_api.verify_store(store=store)
    emit(render(found, form, {"text": lambda: history.verification(found)}), output)
    sys.exit(1 if found.problems else 0)


@store.command("export", short_help="Write all that is kept, or some runs, to a file.")
@click.argument("file", type=FILE)
@click.argument("runs", nargs=-1)
@_store
@output_options()
def export_(
    file: Path, runs: tuple[str, ...], store: str | None, form: str, output: Path | None
) -> None:
    """Write all that is kept, or some RUNS, to a file of JSON lines; .gz compresses it."""
    made = history_api.export_runs(file, runs, store=store)
    emit(render(made, form, {"text": lambda: history.exported(made)}), output)


@store.command("import", short_help="Take in what was exported, or a run.")
@click.argument("file", type=FILE)
@_store
@output_options()
def import_(file: Path, store: str | None, form: str, output: Path | None) -> None:
    """Take in what was exported, or a run that `carob run --format json` wrote."""
    made = history_api.import_runs(file, store=store)
    emit(render(made, form, {"text": lambda: history.imported(made)}), output)


@store.command()
@click.option("--keep", type=click.IntRange(min=0), help="The newest so many stay.")
@click.option("--older-than", metavar="AGE", help="Only what is older goes: 12h, 90d, 4w.")
@click.option("--dry-run", "dry", is_flag=True, help="Tell what would go, and remove nothing.")
@_store
@output_options()
def prune(
    keep: int | None,
    older_than: str | None,
    dry: bool,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Remove old runs. What is labelled `baseline` or `release` stays.

    With both --keep and --older-than only what is neither new nor young goes.
    """
    made = history_api.prune_runs(keep=keep, older_than=older_than, dry=dry, store=store)
    emit(render(made, form, {"text": lambda: history.pruned(made)}), output)


@store.command()
@click.argument("run")
@click.argument("labels", nargs=-1, required=True, metavar="NAME=VALUE…")
@_store
def label(run: str, labels: tuple[str, ...], store: str | None) -> None:
    """Label a run that is kept: carob store label latest baseline=1.4.0"""
    history_api.label_run(run, pairs(labels), store=store)
