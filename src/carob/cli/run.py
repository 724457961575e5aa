"""`carob run`: evaluate traces against golden data."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from carob import api
from carob.cli.live_options import live_options, live_request
from carob.cli.names import METRIC, PROFILE
from carob.cli.options import (
    FILE,
    TRACES,
    command,
    config_option,
    golden_option,
    judge_options,
    mapping_option,
    option,
    parse_pairs,
    report_options,
    selection_options,
    store_option,
    trust_option,
)
from carob.cli.output import emit_report, emit_result, show_metrics, show_problem
from carob.cli.progress import progress_line, show_event
from carob.report.judge_cost import format_estimate


@command(
    "carob run traces.json --golden golden.json -m tool_trajectory_avg_score",
    "carob run --golden golden.json --target python:agent.py:answer --repeat 3",
)
@click.argument("traces", nargs=-1, type=TRACES)
@golden_option("Golden data, in any format.")
@mapping_option
@option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    type=METRIC,
    metavar="NAME",
    help="Metric to compute. Repeatable.",
    show_default="those that the golden data asks for",
)
@option(
    "--threshold",
    "thresholds",
    multiple=True,
    type=METRIC,
    metavar="METRIC=NUMBER",
    help="Score that a case must reach to pass. Repeatable.",
)
@option(
    "--param",
    "params",
    multiple=True,
    type=METRIC,
    metavar="METRIC.NAME=VALUE",
    help="Parameter of a metric; see `carob metrics METRIC`. Repeatable.",
)
@config_option
@trust_option
@option("--profile", type=PROFILE, metavar="NAME|FILE", help="Scoring profile for all cases.")
@option("--contracts", type=FILE, help="Directory of JSON Schemas for the metric `contract`.")
@selection_options
@live_options
@judge_options
@option("--dry-run", is_flag=True, help="Estimate the cost of judges without calling them.")
@option(
    "--matrix",
    is_flag=True,
    help="Make a run for each combination in [matrix] of the config, and rank them.",
)
@option(
    "--traces-of",
    "rescore",
    metavar="RUN",
    help="Score the traces that were saved with a run again.",
)
@option("--cross", is_flag=True, help="Score every case with every trace.")
@option(
    "--jobs",
    metavar="N",
    type=click.IntRange(min=1),
    help="Number of worker processes.",
    show_default="CPU count",
)
@option(
    "--on",
    metavar="CLUSTER",
    help="Score on a Ray cluster: ray (this machine), ray://HOST:PORT or HOST:PORT.",
)
@option("--resume", is_flag=True, help="Resume an interrupted run.")
@option("--allow-unscored", is_flag=True, help="Allow cases that could not be scored.")
@option(
    "--by",
    multiple=True,
    metavar="PROPERTY",
    help="Break down by agent, tag or a key of the metadata. Repeatable.",
)
@option(
    "--label",
    "labels",
    multiple=True,
    metavar="NAME=VALUE",
    help="Label of the stored run. Repeatable.",
)
@store_option
@option("--no-store", is_flag=True, help="Do not save the run.")
@option("--keep-traces", is_flag=True, help="Save the traces with the run.")
@report_options
def run(
    traces: tuple[Path, ...],
    golden: Path | None,
    mapping: str | None,
    metrics: tuple[str, ...],
    thresholds: tuple[str, ...],
    params: tuple[str, ...],
    config: Path | None,
    trust_config: bool,
    profile: str | None,
    contracts: Path | None,
    tags: tuple[str, ...],
    where: str | None,
    cases: tuple[str, ...],
    limit: int | None,
    judge: str | None,
    judge_url: str | None,
    judge_key_env: str | None,
    concurrency: int | None,
    max_calls: int | None,
    max_cost: float | None,
    dry_run: bool,
    matrix: bool,
    rescore: str | None,
    cross: bool,
    jobs: int | None,
    on: str | None,
    resume: bool,
    allow_unscored: bool,
    by: tuple[str, ...],
    labels: tuple[str, ...],
    store: str | None,
    no_store: bool,
    keep_traces: bool,
    form: str,
    output: Path | None,
    **live: Any,
) -> None:
    """Evaluate traces or a live agent against golden data.

    TRACES are optional if the golden data contains recorded answers, or with --target:
    a live agent is then asked the golden questions, and its traces are saved with the
    run. The run is saved
    in the store. Exits 1 if a case did not pass or could not be scored. Metrics without
    a threshold decide nothing: with no others, the exit code is 0 and no case passed.
    """
    request = api.run_request.RunRequest(
        traces=traces,
        rescore=rescore,
        live=live_request(live, concurrency, max_cost),
        golden=golden,
        metrics=metrics,
        thresholds=parse_pairs(thresholds, "--threshold", "METRIC=NUMBER"),
        params=parse_pairs(params, "--param", "METRIC.NAME=VALUE"),
        profile=profile,
        tags=tags,
        where=where,
        cases=cases,
        limit=limit,
        filters=live["filters"],
        sample=live["sample"],
        stratify=live["stratify"],
        sample_seed=live["seed"],
        by=by,
        contracts=contracts,
        judge={
            "model": judge,
            "url": judge_url,
            "key_env": judge_key_env,
            "concurrency": concurrency,
            "max_calls": max_calls,
            "max_cost": max_cost,
        },
        mapping=mapping,
        config=config,
        allow_code=True,
        trust_config=trust_config,
        cross=cross,
        jobs=jobs,
        on=on,
        resume=resume,
        save=not no_store,
        store=store,
        labels=parse_pairs(labels, "--label"),
        keep_traces=keep_traces,
    )
    if dry_run:
        _show_estimate(request, form, output)
        return
    if matrix:
        _run_matrix(request, allow_unscored, form, output)
        return
    with progress_line("evaluating") as line:
        listeners = api.run_request.Listeners(
            reading=line.reading,
            scoring=line.of("scoring"),
            live=show_event if live["progress"] == "json" else line.live,
            problem=line.report,
            metrics=show_metrics,
        )
        evaluation = api.runs.evaluate(request, listeners)
    emit_report(form, evaluation.report_inputs(by), output)
    sys.exit(0 if evaluation.passed(allow_unscored=allow_unscored) else 1)


def _run_matrix(
    request: api.run_request.RunRequest, allow_unscored: bool, form: str, output: Path | None
) -> None:
    """Make the runs of the matrix, then show their leaderboard."""
    # Late: few runs are a matrix.
    from carob.api.leaderboard import leaderboard
    from carob.api.matrix import run_matrix
    from carob.cli.leaderboard import FORMS, emit_leaderboard

    if form not in ("text", "json", *FORMS):
        raise click.UsageError(f"--matrix supports --format text, json, {', '.join(FORMS)}.")
    with progress_line("evaluating") as line:
        listeners = api.run_request.Listeners(
            reading=line.reading,
            scoring=line.of("scoring"),
            live=line.live,
            problem=line.report,
        )
        result = run_matrix(
            request, listeners, announce=lambda title: click.echo(f"running {title}", err=True)
        )
        board = leaderboard(batch=result.batch, store=request.store)
    emit_leaderboard(board, form, output)
    click.echo(f"batch: {result.batch}", err=True)
    sys.exit(0 if result.passed(allow_unscored=allow_unscored) else 1)


def _show_estimate(request: api.run_request.RunRequest, form: str, output: Path | None) -> None:
    if form not in ("text", "json"):
        raise click.UsageError(f"--dry-run supports --format text and json, not {form}.")
    costs = api.runs.estimate(
        request, api.run_request.Listeners(problem=show_problem, metrics=show_metrics)
    )
    emit_result(costs, form, output, partial(format_estimate, costs))
