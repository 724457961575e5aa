"""Commands for metrics and scoring policies."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO

import click

from carob.api import metrics as metrics_api
from carob.api import policy as policy_api
from carob.cli.options import command, option, output_options, subcommand
from carob.cli.output import emit
from carob.report import render
from carob.report.metrics import format_metrics, format_verdicts, verdicts_document


@command("carob metrics", "carob metrics tool_trajectory_avg_score rouge_l")
@click.argument("names", nargs=-1)
@output_options()
def metrics(names: tuple[str, ...], form: str, output: Path | None) -> None:
    """List the available metrics.

    Shows what each metric means and needs, its scale and its default threshold.
    With NAMES, also how these metrics are measured, and their parameters.
    """
    listed = metrics_api.metrics(names)
    forms = {"text": lambda: format_metrics(listed, full=bool(names))}
    emit(render({"metrics": listed}, form, forms), output)


@click.group()
def policy() -> None:
    """Apply scoring policies to existing scores."""


@subcommand(
    policy,
    "carob policy apply scores.jsonl",
    "carob policy apply scores.jsonl --profile prep_default",
)
@click.argument("scores", type=click.File("rb"), default="-")
@option("--profile", metavar="NAME|FILE", help="Scoring profile for all cases.")
@option("--raw-scales", is_flag=True, help="Do not convert scores to the profile's scale.")
@output_options()
def apply(
    scores: BinaryIO, profile: str | None, raw_scales: bool, form: str, output: Path | None
) -> None:
    """Judge existing scores by a scoring profile.

    SCORES contains JSON lines; the default is stdin. A case with a missing score, which
    is null, does not pass. Exits 1 if a case did not pass. A line looks like this:

    \b
    {"case": "a", "profile": "prep_default", "scores": {"Relevance": 4}}
    """
    source = str(getattr(scores, "name", "<stdin>"))  # stdin may be replaced by an unnamed object
    verdicts = policy_api.apply_policy(scores, source=source, profile=profile, raw=raw_scales)
    forms = {"text": lambda: format_verdicts(verdicts)}
    emit(render(verdicts_document(verdicts), form, forms), output)
    sys.exit(0 if all(case.status == "passed" for case in verdicts.cases) else 1)
