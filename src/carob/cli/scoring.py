"""`carob metrics`: what can be measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click

from carob.api import metrics as metrics_api
from carob.api import policy as policy_api
from carob.cli.output import emit, output_options
from carob.report import metrics as report
from carob.report import policy as report
from carob.report import render


@click.command()
@click.argument("names", nargs=-1)
@output_options()
def metrics(names: tuple[str, ...], form: str, output: Path | None) -> None:
    """List every metric: what it means, what it needs, its scale, its default threshold.

    With NAMES only those, with how they are measured and their parameters.
    """
    found = metrics_api.metrics(names)
    made = {"text": lambda: report.text(found, fully=bool(names))}
    emit(render({"metrics": found}, form, made), output)


@click.group()
def policy() -> None:
    """Turn scores into verdicts."""


@policy.command()
@click.argument("scores", type=click.File("rb"), default="-")
@click.option("--profile", help="Scoring profile for all lines: a name or a file.")
@click.option("--raw-scales", is_flag=True, help="Take the numbers as they are, whatever scale.")
@output_options()
def apply(
    scores: BinaryIO, profile: str | None, raw_scales: bool, form: str, output: Path | None
) -> None:
    """Judge scores that exist already by a scoring profile.

    SCORES has JSON lines; without it they are read from stdin. A score that could not be had is
    null. Exit code 1 if a case did not pass.

    \b
    echo '{"case": "a", "profile": "prep_default", "scores": {"Relevance": 4}}' | carob policy apply
    """
    source = str(getattr(scores, "name", "<stdin>"))  # not every stand-in for stdin has a name
    made = policy_api.apply_policy(scores, source=source, profile=profile, raw=raw_scales)
    emit(render(report.document(made), form, {"text": lambda: report.text(made)}), output)
    sys.exit(0 if all(case.status == "passed" for case in made.cases) else 1)
