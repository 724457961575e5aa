"""`carob compare` and `carob gate`: two runs in, one answer out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from carob.api import compare as compare_api
from carob.api import history
from carob.cli.options import FILE
from carob.cli.output import emit, output_options, show_problem
from carob.report import comparison as gate_report
from carob.report import comparison as report
from carob.report import render
from carob.report.html.page import page

_margin = click.option(
    "--margin",
    "margins",
    multiple=True,
    metavar="SHARE|METRIC=NUMBER",
    help="The difference that does not matter: a share of every scale, 0.02 if nothing is said, or"
    " for one metric in its own units.",
)
_alpha = click.option(
    "--alpha", type=float, help="How often chance may be taken for a difference; 0.05."
)
_held = click.option(
    "-m", "--metric", "held", multiple=True, help="A metric that informs, to be held as well."
)


@click.command()
@click.argument("before")
@click.argument("after")
@_margin
@_alpha
@_held
@click.option("--exit-code", is_flag=True, help="Exit with 1 if the second run regressed.")
@output_options("md", "html")
def compare(
    before: str,
    after: str,
    margins: tuple[str, ...],
    alpha: float | None,
    held: tuple[str, ...],
    exit_code: bool,
    form: str,
    output: Path | None,
) -> None:
    """Is the difference between the runs BEFORE and AFTER real?

    \b
    carob run traces/main.jsonl --golden gold.json --format json -o main.json
    carob run traces/new.jsonl --golden gold.json --format json -o new.json
    carob compare main.json new.json

    Cases are compared one by one, and only where they, the metric and its parameters are the same
    in both runs; what is not is named.
    """
    shares, numbers = _margins(margins)
    made = compare_api.compare(
        before,
        after,
        margin=compare_api.MARGIN if shares is None else shares,
        margins=numbers,
        alpha=compare_api.ALPHA if alpha is None else alpha,
        held=held,
    )
    forms = {
        "text": lambda: report.format_comparison(made),
        "md": lambda: report.format_comparison_markdown(made),
        "html": lambda: page(history.find_run(after), comparison=made),
    }
    emit(render(made, form, forms), output)
    sys.exit(1 if exit_code and made.verdict == "regressed" else 0)


@click.command()
@click.argument("run")
@click.option("--baseline", metavar="RUN", help="The run that it must not fall behind.")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="METRIC=MEAN",
    help="What the mean over all cases must reach.",
)
@click.option("--min-pass-rate", type=float, help="Share of the cases that must pass.")
@_margin
@_alpha
@_held
@click.option("--strict", is_flag=True, help="What is inconclusive fails.")
@click.option("--allow-unscored", is_flag=True, help="Cases that cannot be scored may pass.")
@click.option("--require-calibration", is_flag=True, help="Judges must have been calibrated.")
@click.option(
    "--min-kappa",
    type=click.FloatRange(-1, 1),
    help="What the lower end of their kappa must reach; 0.4.",
)
@click.option(
    "--calibration",
    "calibrations",
    multiple=True,
    type=FILE,
    help="A file with a calibration; the store has others.",
)
@click.option("--quarantine", type=FILE, help="Cases that may not decide, each with owner and day.")
@click.option("-c", "--config", type=FILE, help="carob.toml, with the rules in [gate].")
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
    form: str,
    output: Path | None,
) -> None:
    """May RUN pass? One exit code for CI.

    \b
    carob gate new.json --baseline main.json
    carob gate new.json --threshold response_match_score=0.8 --min-pass-rate 0.9

    Exit code 0 if it may, 1 if it regressed or stays below what is asked, 2 if that could not be
    found out. What is inconclusive fails only with --strict.
    """
    share, numbers = _margins(margins)
    rules = compare_api.gate_rules(
        config,
        baseline=baseline,
        thresholds=_numbers(thresholds),
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
    made = compare_api.gate(run, rules)
    for problem in made.problems:
        show_problem(problem)
    forms = {
        "text": lambda: gate_report.format_gate(made),
        "md": lambda: gate_report.format_gate_markdown(made),
    }
    emit(render(made, form, forms), output)
    sys.exit(0 if made.passed else 1)


def _margins(given: Iterable[str]) -> tuple[float | None, dict[str, float]]:
    """The share for all metrics, and the numbers for single ones."""
    shares = [one for one in given if "=" not in one]
    numbers = _numbers(one for one in given if "=" in one)
    return (_number(shares[-1]) if shares else None), numbers


def _numbers(pairs: Iterable[str]) -> dict[str, float]:
    made: dict[str, float] = {}
    for pair in pairs:
        name, sign, value = pair.rpartition("=")
        if not sign or not name:
            raise click.UsageError(f"Found {pair!r}, expected METRIC=NUMBER.")
        made[name] = _number(value)
    return made


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise click.UsageError(f"Found {text!r}, expected a number.") from error
