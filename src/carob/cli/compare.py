"""Commands that compare runs: compare and gate."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from carob.api import compare as compare_api
from carob.api import history
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
from carob.cli.output import emit, show_problem
from carob.report import render
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
@click.argument("before")
@click.argument("after")
@_margin_option
@_alpha_option
@option(
    "-m",
    "--metric",
    "held",
    multiple=True,
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
    comparison = compare_api.compare(
        before,
        after,
        margin=compare_api.MARGIN if share is None else share,
        margins=numbers,
        alpha=compare_api.ALPHA if alpha is None else alpha,
        held=held,
        store=store,
    )
    forms = {
        "text": lambda: format_comparison(comparison),
        "md": lambda: format_comparison_markdown(comparison),
        "html": lambda: format_report(
            "html", ReportInputs(history.find_run(after, store=store), comparison=comparison)
        ),
    }
    emit(render(comparison, form, forms), output)
    sys.exit(1 if exit_code and comparison.verdict == "regressed" else 0)


@command(
    "carob gate new.json --baseline main.json",
    "carob gate latest --threshold rouge_l=0.8 --min-pass-rate 0.9",
)
@click.argument("run")
@option("--baseline", metavar="RUN", help="Run that RUN is compared with.")
@option(
    "--threshold",
    "thresholds",
    multiple=True,
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
    rules = compare_api.gate_rules(
        config,
        baseline=baseline,
        thresholds=parse_numbers(thresholds),
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
    result = compare_api.gate(run, rules, store=store)
    for problem in result.problems:
        show_problem(problem)
    forms = {"text": lambda: format_gate(result), "md": lambda: format_gate_markdown(result)}
    emit(render(result, form, forms), output)
    sys.exit(0 if result.passed else 1)


def _parse_margins(texts: Iterable[str]) -> tuple[float | None, dict[str, float]]:
    """Return the share for all metrics, and the margins of single metrics."""
    shares = [text for text in texts if "=" not in text]
    numbers = parse_numbers(text for text in texts if "=" in text)
    return (parse_number(shares[-1]) if shares else None), numbers
