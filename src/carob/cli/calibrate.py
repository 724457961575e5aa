"""`carob calibrate`: compare a judge with human labels."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click

from carob import api
from carob.cli.names import METRIC, RUN
from carob.cli.options import (
    FILE,
    TRACES,
    command,
    config_option,
    golden_option,
    judge_options,
    option,
    output_options,
    store_option,
    trust_option,
)
from carob.cli.output import emit_result, show_problem
from carob.cli.progress import progress_line
from carob.errors import CarobError
from carob.report.calibration import format_calibration
from carob.schema import Calibration, Problem


@command(
    "carob calibrate labels.csv --run latest",
    "carob calibrate labels.csv traces.json -g gold.json --judge openai:gpt-5-mini",
)
@click.argument("labels", type=FILE, required=False)
@click.argument("traces", nargs=-1, type=TRACES)
@option("--run", "scored", type=RUN, metavar="RUN", help="Run with the scores of the judge.")
@option("--queue", metavar="ID", help="Review queue with the labels, and with its run and metric.")
@golden_option("Golden data, in any format.")
@option(
    "-m",
    "--metric",
    type=METRIC,
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
@trust_option
@judge_options
@store_option
@option("--no-store", is_flag=True, help="Do not save the calibration.")
@output_options()
def calibrate(
    labels: Path | None,
    traces: tuple[Path, ...],
    scored: str | None,
    queue: str | None,
    golden: Path | None,
    metric: str | None,
    threshold: float | None,
    min_kappa: float | None,
    config: Path | None,
    trust_config: bool,
    judge: str | None,
    judge_url: str | None,
    judge_key_env: str | None,
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
    judge scores the labeled answers now. With --queue, the labels are those of a
    review queue in the browser.

    Exits 1 if the lower confidence bound of kappa is below --min-kappa.
    """
    judge_flags = {
        "model": judge,
        "url": judge_url,
        "key_env": judge_key_env,
        "concurrency": concurrency,
        "max_calls": max_calls,
        "max_cost": max_cost,
    }
    if scored is not None and (traces or golden or any(judge_flags.values())):
        raise click.UsageError("--run cannot be combined with traces, --golden or judge options.")
    if queue and (labels or scored or golden or metric or threshold or any(judge_flags.values())):
        raise click.UsageError("--queue has its own labels, run and metric.")
    if not (labels or queue):
        raise click.UsageError("Missing argument 'LABELS'.")
    names = () if metric is None else (metric,)
    setup = api.settings.settings(
        config, metrics=names, golden=golden, judge=judge_flags, trust_config=trust_config
    )
    url = None if no_store else api.store.store_url(store, config=config)
    with progress_line("calibrating") as line:
        if labels is None:
            calibration = api.review.calibrate_queue(queue or "", store=store)
        else:
            calibration = api.calibration.calibrate(
                labels,
                run=scored,
                store=store,
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
    bound = api.calibration.MIN_KAPPA if bound is None else bound
    emit_result(calibration, form, output, partial(format_calibration, calibration, bound))
    if url:
        _save(calibration, url)
    sys.exit(0 if api.calibration.agrees(calibration, bound) else 1)


def _save(calibration: Calibration, url: str) -> None:
    """Save the calibration. A failure is only a warning: the verdict does not depend on it."""
    try:
        api.calibration.save_calibration(calibration, store=url)
    except CarobError as error:
        where = error.where or "the store"
        message = f"the calibration was not saved: {error.message}"
        show_problem(Problem(where=where, message=message, hint=error.hint, severity="warning"))
