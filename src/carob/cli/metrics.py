"""`carob metrics`: what can be measured."""

from __future__ import annotations

from pathlib import Path

import click

from carob import api
from carob.cli.output import emit, output_options
from carob.report import metrics as report
from carob.report import render


@click.command()
@click.argument("names", nargs=-1)
@output_options()
def metrics(names: tuple[str, ...], form: str, output: Path | None) -> None:
    """List every metric: what it means, what it needs, its scale, its default threshold.

    With NAMES only those, with how they are measured and their parameters.
    """
    found = api.metrics(names)
    made = {"text": lambda: report.text(found, fully=bool(names))}
    emit(render({"metrics": found}, form, made), output)
