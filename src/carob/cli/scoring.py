"""Commands for metrics and scoring policies."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from carob import api
from carob.cli.names import METRIC, NEED, PROFILE
from carob.cli.options import FILE, command, option, output_options, subcommand
from carob.cli.output import emit_result
from carob.report.metrics import (
    format_metric_details,
    format_metrics,
    format_verdicts,
    verdicts_document,
)


@command("carob metrics --offline --for traces.jsonl", "carob metrics rouge_l bleu")
@click.argument("names", nargs=-1, type=METRIC)
@option(
    "--needs",
    multiple=True,
    metavar="PART",
    type=NEED,
    help="Only metrics that need golden data (`golden`), or a part of a case or trace, such as"
    " `case.response` or `usage`. Repeatable.",
)
@option("--judged/--offline", default=None, help="Only metrics that ask a model, or only others.")
@option(
    "--for",
    "files",
    multiple=True,
    type=FILE,
    help="Only metrics that this dataset or trace file has the data for. Repeatable.",
)
@output_options()
def metrics(
    names: tuple[str, ...],
    needs: tuple[str, ...],
    judged: bool | None,
    files: tuple[Path, ...],
    form: str,
    output: Path | None,
) -> None:
    """List the available metrics.

    Shows the default threshold of each metric, the part of the golden data that it
    needs, and what it means. With NAMES, shows how these metrics are measured, all
    that they need, and their parameters.
    """
    listed = api.metrics.metrics(names, needs=needs, judged=judged, files=files)
    text = format_metric_details if names else format_metrics
    emit_result({"metrics": listed}, form, output, partial(text, listed))


@click.group()
def policy() -> None:
    """Apply scoring policies to existing scores."""


@subcommand(
    policy,
    "carob policy apply scores.jsonl",
    "carob policy apply scores.jsonl --profile prep_default",
)
@click.argument("scores", type=click.File("rb"), default="-")
@option("--profile", type=PROFILE, metavar="NAME|FILE", help="Scoring profile for all cases.")
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
    verdicts = api.policy.apply_policy(scores, source=source, profile=profile, raw=raw_scales)
    emit_result(verdicts_document(verdicts), form, output, partial(format_verdicts, verdicts))
    sys.exit(0 if all(case.status == "passed" for case in verdicts.cases) else 1)
