"""`carob calibrate`: labels of people in, how far a judge may be trusted out."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from carob.api import calibration as calibration_api
from carob.api import history, settings
from carob.cli.options import FILE, judge_options
from carob.cli.output import emit, output_options, progress_line, show_problem
from carob.errors import CarobError
from carob.report import calibration as report
from carob.report import render
from carob.schema import Calibration, Problem


@click.command()
@click.argument("labels", type=FILE)
@click.argument("traces", nargs=-1, type=FILE)
@click.option("--run", "scored", metavar="RUN", help="A run that has the judge's scores.")
@click.option("-g", "--golden", type=FILE, help="Golden data, in any format.")
@click.option("-m", "--metric", help="The metric, if neither labels nor the run say which.")
@click.option("--threshold", type=float, help="From which score on it passes.")
@click.option(
    "--min-kappa",
    type=click.FloatRange(-1, 1),
    help="What the lower end of kappa must reach; 0.4.",
)
@click.option("-c", "--config", type=FILE, help="carob.toml, or a configuration of another tool.")
@judge_options
@click.option("--store", metavar="PATH|URL", help="Where to keep it; .carob/carob.db.")
@click.option("--no-store", is_flag=True, help="Do not keep it.")
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
    """How well does a judge agree with people?

    \b
    carob calibrate labels.csv --run latest
    carob calibrate labels.csv traces.json --golden gold.json -m tone --judge openai:gpt-5-mini

    LABELS has a line for each answer that somebody looked at: case and label, and trace, metric,
    by and note if you like; as CSV, JSON lines or a JSON list. A label is a number on the metric's
    scale, or pass or fail. With --run nobody is asked; without it the judge is asked now, about the
    answers that are labelled.

    Exit code 0 if the lower end of kappa's interval reaches what is asked, 1 if it does not.
    """
    asked = {
        "model": judge,
        "url": judge_url,
        "concurrency": concurrency,
        "max_calls": max_calls,
        "max_cost": max_cost,
    }
    if scored is not None and (traces or golden or any(asked.values())):
        raise click.UsageError("A run has its answers and its judge: give --run and neither else.")
    names = () if metric is None else (metric,)
    setup = settings.settings(config, metrics=names, golden=golden, judge=asked)
    place = None if no_store else history.store_place(store, config=config)
    with progress_line() as line:
        made = calibration_api.calibrate(
            labels,
            run=None if scored is None else history.find_run(scored, store=store),
            traces=traces or setup.traces,
            golden=setup.golden,
            metrics=setup.metrics if scored is None else names,
            threshold=threshold,
            judge=setup.judge,
            answers=place,
            progress=line.of("judging"),
            report=line.report,
        )
    least = min_kappa if min_kappa is not None else setup.gate.min_kappa
    least = calibration_api.MIN_KAPPA if least is None else least
    emit(render(made, form, {"text": lambda: report.text(made, least)}), output)
    if place:
        _keep(made, place)
    sys.exit(0 if calibration_api.agrees(made, least) else 1)


def _keep(made: Calibration, store: str) -> None:
    """A judge is calibrated or not whether that can be kept or not."""
    try:
        calibration_api.keep_calibration(made, store=store)
    except CarobError as error:
        where = error.where or "the store"
        message = f"the calibration was not kept: {error.message}"
        show_problem(Problem(where=where, message=message, hint=error.hint, severity="warning"))
