"""Commands that compare runs: compare and gate."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import click

from carob import api
from carob.cli.names import METRIC, RUN
from carob.cli.options import (
    FILE,
    command,
    config_option,
    option,
    output_options,
    parse_number,
    parse_numbers,
    store_option,
)
from carob.cli.output import emit_result, show_problem
from carob.cli.progress import progress_line
from carob.report.comparison import (
    format_comparison,
    format_comparison_markdown,
    format_gate,
    format_gate_markdown,
)
from carob.report.forms import ReportInputs, format_report

_margin_option = option(
    "--margin",
    "margins",
    multiple=True,
    type=METRIC,
    metavar="SHARE|METRIC=NUMBER",
    help="Largest irrelevant difference: a share of every scale, or for one metric in its own"
    " units. Repeatable.",
    show_default="0.02",
)
_alpha_option = option(
    "--alpha", type=float, metavar="NUMBER", help="Significance level.", show_default="0.05"
)


@command(
    "carob compare main.json new.json",
    "carob compare latest~1 latest --format md",
)
@click.argument("before", type=RUN)
@click.argument("after", type=RUN)
@_margin_option
@_alpha_option
@option(
    "-m",
    "--metric",
    "held",
    multiple=True,
    type=METRIC,
    metavar="NAME",
    help="Also let this informational metric decide. Repeatable.",
)
@option("--exit-code", is_flag=True, help="Exit 1 if AFTER regressed.")
@store_option
@output_options("md", "html")
def compare(
    before: str,
    after: str,
    margins: tuple[str, ...],
    alpha: float | None,
    held: tuple[str, ...],
    exit_code: bool,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Compare two runs for significant differences.

    BEFORE and AFTER are files written by `carob run --format json`, or stored runs,
    such as `latest`, and `latest~1` for the one before.
    Only cases and metrics that are identical in both runs are compared; differences
    between the inputs are listed.
    """
    share, numbers = _parse_margins(margins)
    with progress_line("comparing") as line:
        comparison = api.compare.compare(
            before,
            after,
            progress=line.of("reading", unit_name=" cases"),
            margin=api.compare.MARGIN if share is None else share,
            margins=numbers,
            alpha=api.compare.ALPHA if alpha is None else alpha,
            held=held,
            store=store,
        )
    emit_result(
        comparison,
        form,
        output,
        partial(format_comparison, comparison),
        md=lambda: format_comparison_markdown(comparison),
        html=lambda: format_report(
            "html", ReportInputs(api.history.find_run(after, store=store), comparison=comparison)
        ),
    )
    sys.exit(1 if exit_code and comparison.verdict == "regressed" else 0)


@command(
    "carob gate new.json --baseline main.json",
    "carob gate latest --threshold rouge_l=0.8 --min-pass-rate 0.9",
)
@click.argument("run", type=RUN)
@option("--baseline", type=RUN, metavar="RUN", help="Run that RUN is compared with.")
@option(
    "--threshold",
    "thresholds",
    multiple=True,
    type=METRIC,
    metavar="METRIC=MEAN",
    help="Required mean of a metric over all cases. Repeatable.",
)
@option("--min-pass-rate", type=float, metavar="SHARE", help="Required share of passed cases.")
@_margin_option
@_alpha_option
@option(
    "-m",
    "--metric",
    "held",
    multiple=True,
    type=METRIC,
    metavar="NAME",
    help="Also gate on this informational metric. Repeatable.",
)
@option("--strict", is_flag=True, help="Treat inconclusive results as failures.")
@option("--allow-unscored", is_flag=True, help="Allow cases that could not be scored.")
@option("--require-calibration", is_flag=True, help="Require calibrated judges.")
@option(
    "--min-kappa",
    metavar="NUMBER",
    type=click.FloatRange(-1, 1),
    help="Minimum lower confidence bound of kappa for judges.",
    show_default="0.4",
)
@option(
    "--calibration",
    "calibrations",
    multiple=True,
    type=FILE,
    help="File with a calibration, in addition to the store. Repeatable.",
)
@option(
    "--quarantine",
    type=FILE,
    help="File of quarantined cases, each with an owner and an expiry date.",
)
@config_option
@store_option
@output_options("md")
def gate(
    run: str,
    baseline: str | None,
    thresholds: tuple[str, ...],
    min_pass_rate: float | None,
    margins: tuple[str, ...],
    alpha: float | None,
    held: tuple[str, ...],
    strict: bool,
    allow_unscored: bool,
    require_calibration: bool,
    min_kappa: float | None,
    calibrations: tuple[Path, ...],
    quarantine: Path | None,
    config: Path | None,
    store: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Decide whether a run passes, for CI.

    Exits 0 on pass, 1 on fail, 2 if the gate could not be evaluated. Inconclusive
    results fail only with --strict. Rules can also be set under [gate] in carob.toml.
    """
    share, numbers = _parse_margins(margins)
    rules = api.compare.gate_rules(
        config,
        baseline=baseline,
        thresholds=parse_numbers(thresholds, "--threshold"),
        min_pass_rate=min_pass_rate,
        margin=share,
        margins=numbers,
        alpha=alpha,
        metrics=held,
        strict=strict,
        allow_unscored=allow_unscored,
        require_calibration=require_calibration,
        min_kappa=min_kappa,
        calibrations=tuple(map(str, calibrations)),
        quarantine=quarantine and str(quarantine),
    )
    with progress_line("comparing") as line:
        progress = line.of("reading", unit_name=" cases")
        result = api.compare.gate(run, rules, store=store, progress=progress)
    for problem in result.problems:
        show_problem(problem)
    text = partial(format_gate, result)
    emit_result(result, form, output, text, md=lambda: format_gate_markdown(result))
    sys.exit(0 if result.passed else 1)


def _parse_margins(texts: Iterable[str]) -> tuple[float | None, dict[str, float]]:
    """Return the share for all metrics, and the margins of single metrics."""
    shares = [text for text in texts if "=" not in text]
    numbers = parse_numbers((text for text in texts if "=" in text), "--margin")
    return (parse_number(shares[-1], "--margin") if shares else None), numbers
