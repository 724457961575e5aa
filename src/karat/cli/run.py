"""`karat run`: golden cases and traces in, verdicts out."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from karat import api
from karat.cli.output import emit, output_options, progress_bar, show_problem
from karat.report import render
from karat.report import run as report

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("traces", nargs=-1, type=FILE)
@click.option("-g", "--golden", type=FILE, help="Golden data, in any format.")
@click.option("-m", "--metric", "metrics", multiple=True, help="A metric. Give it for each.")
@click.option("--threshold", "thresholds", multiple=True, metavar="METRIC=NUMBER")
@click.option("--param", "params", multiple=True, metavar="METRIC.NAME=VALUE")
@click.option("-c", "--config", type=FILE, help="karat.toml, or a configuration of another tool.")
@click.option("--profile", help="Scoring profile for all cases: a name or a file.")
@click.option("--contracts", type=FILE, help="Folder of JSON Schemas for the metric `contract`.")
@click.option("--cross", is_flag=True, help="Score every case with every trace.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes; as many as there are cores.")
@click.option("--resume", is_flag=True, help="Go on with a run that was stopped.")
@click.option("--allow-unscored", is_flag=True, help="Cases that cannot be scored may pass.")
@click.option("--by", multiple=True, help="Break down by agent, tag, phase, difficulty, …")
@output_options("csv", "md")
def run(
    traces: tuple[Path, ...],
    golden: Path | None,
    metrics: tuple[str, ...],
    thresholds: tuple[str, ...],
    params: tuple[str, ...],
    config: Path | None,
    profile: str | None,
    contracts: Path | None,
    cross: bool,
    jobs: int | None,
    resume: bool,
    allow_unscored: bool,
    by: tuple[str, ...],
    form: str,
    output: Path | None,
) -> None:
    """Score traces against golden data.

    \b
    karat run traces.json --golden eval_set.json -m tool_trajectory_avg_score
    karat run --golden simulation.csv -m tool_usage_accuracy

    Golden data that carries recordings needs no traces. Exit code 1 if a case did not pass, or was
    not scored.
    """
    setup = api.settings(
        config,
        metrics=metrics,
        thresholds=_split(thresholds),
        params=_split(params),
        golden=golden,
        profile=profile,
        contracts=contracts,
    )
    with progress_bar("scoring") as progress:
        made = api.run(
            traces or setup.traces,
            golden=setup.golden,
            metrics=setup.metrics,
            profile=setup.profile,
            profiles=setup.profiles,
            cross=cross,
            jobs=jobs,
            resume=resume,
            progress=progress,
            report=show_problem,
        )
    forms = {
        "text": lambda: report.text(made, by),
        "md": lambda: report.markdown(made),
        "csv": lambda: report.table(made),
    }
    emit(render(made, form, forms), output)
    sys.exit(0 if api.passed(made, allow_unscored=allow_unscored) else 1)


def _split(pairs: Iterable[str]) -> dict[str, str]:
    made: dict[str, str] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or not name:
            raise click.UsageError(f"Found {pair!r}, expected NAME=VALUE.")
        made[name] = value
    return made
