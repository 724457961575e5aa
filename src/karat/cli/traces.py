"""Commands for recordings."""

from __future__ import annotations

from pathlib import Path

import click

from karat import api
from karat.cli.output import emit, output_options
from karat.report import render
from karat.report import traces as report

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@output_options()
def traces(files: tuple[Path, ...], form: str, output: Path | None) -> None:
    """Show what was understood from recordings, and which metrics they can support.

    Any container and convention is recognised by content; several files are one input, such as
    spans in one and their log records in another.
    """
    found = api.understand(files)
    emit(render(report.document(found), form, {"text": lambda: report.text(found)}), output)
