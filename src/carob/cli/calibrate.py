"""`carob calibrate`: compare a judge with human labels."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from carob.api import calibration as calibration_api
from carob.api import history, settings
from carob.api import store as store_api
from carob.cli.options import (
    FILE,
    command,
    config_option,
    golden_option,
    judge_options,
    option,
    output_options,
    store_option,
)
from carob.cli.output import emit, progress_line, show_problem
from carob.errors import CarobError
from carob.report import render
from carob.report.calibration import format_calibration
from carob.schema import Calibration, Problem


@command(
    "carob calibrate labels.csv --run latest",
    "carob calibrate labels.csv traces.json -g gold.json --judge openai:gpt-5-mini",
)
@click.argument("labels", type=FILE)
@click.argument("traces", nargs=-1, type=FILE)
@option("--run", "scored", metavar="RUN", help="Run with the scores of the judge.")
@golden_option("Golden data, in any format.")
@option(
    "-m",
    "--metric",
    metavar="NAME",
    help="Metric to calibrate.",
    show_default="named by the labels",
)
@option("--threshold", type=float, metavar="NUMBER", help="Minimum score to pass.")
@option(
    "--min-kappa",
    metavar="NUMBER",
    type=click.FloatRange(-1, 1),
    help="Minimum lower confidence bound of kappa.",
    show_default="0.4",
)
@config_option
@judge_options
@store_option
@option("--no-store", is_flag=True, help="Do not save the calibration.")
@output_options()
def calibrate(
    labels: Path,
    traces: tuple[Path, ...],
    scored: str | None,
    golden: Path | None,
    metric: str | None,
    threshold: float | None,
    min_kappa: float | None,
    config: Path | None,
    judge: str | None,
    judge_url: str | None,
    concurrency: int | None,
    max_calls: int | None,
    max_cost: float | None,
    store: str | None,
    no_store: bool,
    form: str,
    output: Path | None,
) -> None:
    """Measure how well a judge agrees with human labels.

    LABELS is a CSV file, JSON lines or a JSON array with the fields case and label,
    and optionally trace, metric, by and note. A label is a number on the metric's
    scale, `pass` or `fail`. With --run, the scores of a run are used; without it, the
    judge scores the labeled answers now.

    Exits 1 if the lower confidence bound of kappa is below --min-kappa.
    """
    judge_flags = {
        "model": judge,
        "url": judge_url,
        "concurrency": concurrency,
        "max_calls": max_calls,
        "max_cost": max_cost,
    }
    if scored is not None and (traces or golden or any(judge_flags.values())):
        raise click.UsageError("--run cannot be combined with traces, --golden or judge options.")
    names = () if metric is None else (metric,)
    setup = settings.settings(config, metrics=names, golden=golden, judge=judge_flags)
    url = None if no_store else store_api.store_url(store, config=config)
    with progress_line() as line:
        calibration = calibration_api.calibrate(
            labels,
            run=None if scored is None else history.find_run(scored, store=store),
            traces=traces or setup.traces,
            golden=setup.golden,
            metrics=setup.metrics if scored is None else names,
            threshold=threshold,
            judge=setup.judge,
            answers=url,
            progress=line.of("judging"),
            report=line.report,
        )
    bound = min_kappa if min_kappa is not None else setup.gate.min_kappa
    bound = calibration_api.MIN_KAPPA if bound is None else bound
    forms = {"text": lambda: format_calibration(calibration, bound)}
    emit(render(calibration, form, forms), output)
    if url:
        _save(calibration, url)
    sys.exit(0 if calibration_api.agrees(calibration, bound) else 1)


def _save(calibration: Calibration, url: str) -> None:
    """Save the calibration. A failure is only a warning: the verdict does not depend on it."""
    try:
        calibration_api.save_calibration(calibration, store=url)
    except CarobError as error:
        where = error.where or "the store"
        message = f"the calibration was not saved: {error.message}"
        show_problem(Problem(where=where, message=message, hint=error.hint, severity="warning"))
