"""`carob run`: golden cases and traces in, verdicts out."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from carob.api import datasets, history, runs, settings
from carob.api import metrics as metrics_api
from carob.api import traces as traces_api
from carob.cli.options import FILE, judge_options
from carob.cli.output import emit, output_options, pairs, progress_line, show_problem
from carob.errors import CarobError
from carob.report import render
from carob.report.forms import RUN_FORMS, run_forms
from carob.report.judge_cost import estimate_text
from carob.schema import Problem, Run, Trace
from carob.schema.history import RunEntry


@click.command()
@click.argument("traces", nargs=-1, type=FILE)
@click.option("-g", "--golden", type=FILE, help="Golden data, in any format.")
@click.option("-m", "--metric", "metrics", multiple=True, help="A metric. Give it for each.")
@click.option(
    "--threshold",
    "thresholds",
    multiple=True,
    metavar="METRIC=NUMBER",
    help="What a case must reach to pass.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="METRIC.NAME=VALUE",
    help="A parameter, as `carob metrics METRIC` lists them.",
)
@click.option("-c", "--config", type=FILE, help="carob.toml, or a configuration of another tool.")
@click.option("--profile", help="Scoring profile for all cases: a name or a file.")
@click.option("--contracts", type=FILE, help="Folder of JSON Schemas for the metric `contract`.")
@judge_options
@click.option("--dry-run", is_flag=True, help="Estimate what judges would cost, and ask nobody.")
@click.option("--cross", is_flag=True, help="Score every case with every trace.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; as many as there are cores.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--allow-unscored", is_flag=True, help="Cases that cannot be scored may pass.")
@click.option("--by", multiple=True, help="Break down by agent, tag, phase, difficulty, …")
@click.option("--label", "labels", multiple=True, metavar="NAME=VALUE", help="Label for `runs`.")
@click.option("--store", metavar="PATH|URL", help="Where to keep the run; .carob/carob.db.")
@click.option("--no-store", is_flag=True, help="Do not keep the run.")
@click.option("--keep-traces", is_flag=True, help="Keep what was recorded, too.")
@output_options(*RUN_FORMS)
def run(
    traces: tuple[Path, ...],
    golden: Path | None,
    metrics: tuple[str, ...],
    thresholds: tuple[str, ...],
    params: tuple[str, ...],
    config: Path | None,
    profile: str | None,
    contracts: Path | None,
    judge: str | None,
    judge_url: str | None,
    concurrency: int | None,
    max_calls: int | None,
    max_cost: float | None,
    dry_run: bool,
    cross: bool,
    jobs: int | None,
    resume: bool,
    allow_unscored: bool,
    by: tuple[str, ...],
    labels: tuple[str, ...],
    store: str | None,
    no_store: bool,
    keep_traces: bool,
    form: str,
    output: Path | None,
) -> None:
    """Score traces against golden data.

    \b
    carob run traces.json --golden eval_set.json -m tool_trajectory_avg_score
    carob run --golden simulation.csv -m tool_usage_accuracy

    Golden data that carries recordings needs no traces. Exit code 1 if a case did not pass, or was
    not scored.
    """
    setup = settings.settings(
        config,
        metrics=metrics,
        thresholds=pairs(thresholds),
        params=pairs(params),
        golden=golden,
        profile=profile,
        contracts=contracts,
        judge={
            "model": judge,
            "url": judge_url,
            "concurrency": concurrency,
            "max_calls": max_calls,
            "max_cost": max_cost,
        },
    )
    place = None if no_store else history.store_place(store, config=config)
    marks = history.own_labels(pairs(labels)) if place or labels else {}
    if dry_run:
        found = runs.estimate(
            traces or setup.traces,
            golden=setup.golden,
            metrics=setup.metrics,
            cross=cross,
            judge=setup.judge,
            answers=place,
            report=show_problem,
        )
        if form not in ("text", "json"):
            raise click.UsageError(f"A dry run has no form {form!r}: text and json are there.")
        emit(render(found, form, {"text": lambda: estimate_text(found)}), output)
        return
    with progress_line() as line:
        made = runs.run(
            traces or setup.traces,
            golden=setup.golden,
            metrics=setup.metrics,
            profile=setup.profile,
            profiles=setup.profiles,
            cross=cross,
            jobs=jobs,
            resume=resume,
            judge=setup.judge,
            answers=place,
            progress=line.of("scoring"),
            reading=line.reading,
            report=line.report,
        )
    forms = run_forms(
        made,
        by=by,
        places=lambda: datasets.case_lines(setup.golden) if setup.golden else {},
        metrics=metrics_api.metrics,
        earlier=lambda: _earlier(made, place) if place else (),
    )
    text = render(made, form, forms)
    if place:  # before it is shown: whoever reads it may stop reading
        sources = (traces or setup.traces, setup.golden)
        _keep(made, place, marks, traces_api.recorded(*sources) if keep_traces else ())
    emit(text, output)
    sys.exit(0 if runs.passed(made, allow_unscored=allow_unscored) else 1)


def _earlier(made: Run, store: str) -> Sequence[RunEntry]:
    """What trends are made of. What is wrong with the store is said when the run is kept."""
    try:
        return history.earlier_runs(made, store=store)
    except CarobError:
        return ()


def _keep(made: Run, store: str | None, labels: dict[str, str], recorded: Iterable[Trace]) -> None:
    """A run is good or bad whether it can be kept or not."""
    try:
        history.keep_run(made, store=store, labels=labels, traces=recorded)
    except CarobError as error:
        where = error.where or "the store"
        message = f"the run was not kept: {error.message}"
        show_problem(Problem(where=where, message=message, hint=error.hint, severity="warning"))
