"""Commands for traces: traces and capture."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

import click

from carob import api
from carob.api.regressions import capture_failed
from carob.cli.names import RUN
from carob.cli.options import (
    FILE,
    INPUT,
    TRACES,
    append_option,
    check_append,
    command,
    force_option,
    log_mapping_option,
    option,
    output_options,
    store_option,
    to_option,
)
from carob.cli.output import emit_result
from carob.cli.progress import progress_line
from carob.report.traces import format_capture, format_traces, traces_document


@command("carob traces traces.jsonl", "carob traces spans.json logs.json --format json")
@click.argument("files", nargs=-1, required=True, type=TRACES)
@log_mapping_option
@output_options()
def traces(files: tuple[Path, ...], mapping: str | None, form: str, output: Path | None) -> None:
    """Show traces and the metrics that they support.

    Containers and conventions are detected from the content. Several files are read as
    one input, such as spans in one file and their log records in another.
    """
    with progress_line("reading") as line:
        listing = api.traces.list_traces(files, mapping=mapping, progress=line.reading)
    emit_result(traces_document(listing), form, output, partial(format_traces, listing))


@command(
    "carob capture traces.jsonl golden.json --to adk --session s-42",
    "carob capture --failed latest regressions.json",
)
@click.argument("sources", nargs=-1, type=TRACES)
@click.argument("dst", type=FILE)
@to_option
@option("--agent", metavar="NAME", help="Only sessions of this agent, which is evaluated.")
@option("--session", metavar="ID", help="Only the session with this id.")
@option("--since", metavar="TIME", help="Only traces since a date, or an age such as 7d.")
@option("--until", metavar="TIME", help="Only traces until a date, or an age such as 7d.")
@option("--status", type=click.Choice(["ok", "error"]), help="Only traces with this status.")
@option("--mask", is_flag=True, help="Mask personal data and secrets.")
@option(
    "--failed",
    type=RUN,
    metavar="RUN",
    help="Capture the failures of a stored run instead, cut to the turn that went wrong.",
)
@option("--case", "cases", multiple=True, metavar="ID", help="Only this failure. Repeatable.")
@option("--golden", type=INPUT, help="Dataset of that run.", show_default="found by its name")
@store_option
@append_option
@force_option
@log_mapping_option
@output_options()
def capture(
    sources: tuple[Path, ...],
    dst: Path,
    to: str | None,
    agent: str | None,
    session: str | None,
    since: str | None,
    until: str | None,
    status: Literal["ok", "error"] | None,
    mask: bool,
    failed: str | None,
    cases: tuple[str, ...],
    golden: Path | None,
    store: str | None,
    append: bool,
    force: bool,
    mapping: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Turn traces into golden cases.

    The cases expect what the agent did in the traces of SOURCES. With --append, they
    are added after the cases of DST, with unique ids; cases that DST has are skipped.

    With --failed, each failure of a run becomes a draft that expects what its golden
    case does, up to the earliest turn in which the agent differs; always masked.
    """
    check_append(append, force)
    if failed is not None:
        if sources or any((agent, session, since, until, status, force)):
            raise click.UsageError("--failed takes a run and DST, and no filters or --force.")
        with progress_line("capturing") as line:
            report = capture_failed(
                failed,
                dst,
                cases=cases,
                golden=golden,
                to=to,
                append=append,
                store=store,
                progress=line.of("reading", unit_name=" failures"),
            )
        emit_result(report, form, output, partial(format_capture, report, str(dst), append=append))
        return
    if cases:
        raise click.UsageError("--case requires --failed.")
    if not sources:
        raise click.UsageError("Missing argument 'SOURCES...'.")
    with progress_line("capturing") as line:
        report = api.traces.capture(
            sources,
            dst,
            to=to,
            agent=agent,
            session=session,
            since=since,
            until=until,
            status=status,
            mask=mask,
            append=append,
            force=force,
            mapping=mapping,
            progress=line.reading,
        )
    emit_result(report, form, output, partial(format_capture, report, str(dst), append=append))
