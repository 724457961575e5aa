"""`karat metrics`: what can be measured."""

from __future__ import annotations

from pathlib import Path

import click

from karat import api
from karat.cli.output import emit, output_options
from karat.report import metrics as report
from karat.report import render


@click.command()
@output_options()
def metrics(form: str, output: Path | None) -> None:
    """List every metric: what it means, what it needs, its scale, its default threshold."""
    found = api.metrics()
    emit(render({"metrics": found}, form, {"text": lambda: report.text(found)}), output)
