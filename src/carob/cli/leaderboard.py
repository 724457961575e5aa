"""The command that ranks runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from carob.api.leaderboard import ALPHA, PASS_RATE
from carob.api.leaderboard import leaderboard as rank
from carob.cli.names import METRIC, RUN
from carob.cli.options import command, option, output_options, store_option
from carob.cli.output import emit_result
from carob.cli.progress import progress_line
from carob.report.leaderboard import (
    format_leaderboard,
    format_leaderboard_csv,
    format_leaderboard_html,
    format_leaderboard_markdown,
)
from carob.schema.leaderboard import Leaderboard

FORMS = ("csv", "md", "html")


@command(
    "carob leaderboard good.json fast.json cheap.json",
    "carob leaderboard --batch models --metric response_match_score --format md",
)
@click.argument("runs", nargs=-1, type=RUN)
@option("--batch", metavar="NAME", help="Rank all stored runs with the label batch=NAME.")
@option(
    "-m",
    "--metric",
    type=METRIC,
    metavar="NAME",
    default=PASS_RATE,
    show_default=True,
    help="Metric to rank by.",
)
@option(
    "--alpha",
    type=float,
    metavar="NUMBER",
    default=ALPHA,
    show_default=True,
    help="Significance level.",
)
@store_option
@output_options(*FORMS)
def leaderboard(
    runs: tuple[str, ...],
    batch: str | None,
    metric: str,
    alpha: float,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Rank runs of the same cases.

    RUNS are files written by `carob run --format json`, or stored runs. Runs are
    compared case by case; those without a significant difference share a rank.
    """
    with progress_line("comparing") as line:
        progress = line.of("reading", unit_name=" runs")
        board = rank(runs, batch=batch, metric=metric, alpha=alpha, store=store, progress=progress)
    emit_leaderboard(board, form, output)


def emit_leaderboard(board: Leaderboard, form: str, output: Path | None) -> None:
    """Write a leaderboard in one of its forms."""
    emit_result(
        board,
        form,
        output,
        partial(format_leaderboard, board),
        csv=lambda: format_leaderboard_csv(board),
        md=lambda: format_leaderboard_markdown(board),
        html=lambda: format_leaderboard_html(board),
    )
