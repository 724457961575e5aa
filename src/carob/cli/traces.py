"""Commands for recordings."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from carob.api import traces as traces_api
from carob.cli.options import FILE
from carob.cli.output import emit, output_options, progress_line
from carob.report import render
from carob.report import traces as report


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@output_options()
def traces(files: tuple[Path, ...], form: str, output: Path | None) -> None:
    """Show what was understood from recordings, and which metrics they can support.

    Any container and convention is recognised by content; several files are one input, such as
    spans in one and their log records in another.
    """
    with progress_line() as line:
        found = traces_api.understand(files, progress=line.reading)
    emit(render(report.document(found), form, {"text": lambda: report.text(found)}), output)


@click.command()
@click.argument("sources", nargs=-1, required=True, type=FILE)
@click.argument("dst", type=FILE)
@click.option("--to", required=True, metavar="FORMAT", help="Golden format of DST.")
@click.option("--agent", help="Only sessions of this agent; it is the one that is evaluated.")
@click.option("--session", help="Only the session with this id.")
@click.option("--since", metavar="ISO", help="Only what began at this time or later.")
@click.option("--until", metavar="ISO", help="Only what began before this time, or on this day.")
@click.option("--status", type=click.Choice(["ok", "error"]), help="Only what ended like this.")
@click.option("--mask", is_flag=True, help="Replace personal data and secrets.")
@output_options()
def capture(
    sources: tuple[Path, ...],
    dst: Path,
    to: str,
    agent: str | None,
    session: str | None,
    since: str | None,
    until: str | None,
    status: Literal["ok", "error"] | None,
    mask: bool,
    form: str,
    output: Path | None,
) -> None:
    """Make golden cases of recordings: what the agent did is what is expected from now on.

    \b
    carob capture traces.jsonl golden.evalset.json --to adk --session s-42
    carob capture raw_logs.json golden.json --agent orders --to questions
    carob capture history.evalset_result.json table.csv --to simulation
    """
    with progress_line() as line:
        made = traces_api.capture(
            sources,
            dst,
            to=to,
            agent=agent,
            session=session,
            since=since,
            until=until,
            status=status,
            mask=mask,
            progress=line.reading,
        )
    emit(render(made, form, {"text": lambda: report.captured(made, str(dst))}), output)
