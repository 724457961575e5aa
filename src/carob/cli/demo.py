"""`carob demo`: a walkthrough that runs the real commands on sample data."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import click

from carob.cli import carob
from carob.cli.color import color_setting
from carob.cli.options import command, option
from carob.cli.output import display, emit_text
from carob.errors import UsageError
from carob.report.layout import Painted, join_lines


class DemoStep(NamedTuple):
    """A command, and what it shows."""

    comment: str
    command: str


_LIVE = (
    "--golden support.evalset.json --case order_status --case stock_winter_tyres"
    " --case opening_hours"
)
STEPS = (
    DemoStep(
        "A bike shop has golden data for its support agent.",
        "show support.evalset.json",
    ),
    DemoStep(
        "Formats are detected from the content, and each has its own validation rules.",
        "validate support.evalset.json support_golden.json support.csv support.explain.jsonl",
    ),
    DemoStep(
        "Convert to any format. Fields without an equivalent are listed …",
        "convert support.evalset.json converted.csv --to csv",
    ),
    DemoStep(
        "… and preserved, so that converting back restores the original.",
        "convert converted.csv back.json --to adk",
    ),
    DemoStep(
        "Evaluate the agent's OpenTelemetry traces. Release 1.4.0 behaves as expected. (One case"
        " describes a conversation to simulate and expects no answers; it is left out.)",
        "run traces/good.otlp.jsonl --golden support.evalset.json --where 'len(turns) > 0'",
    ),
    DemoStep(
        "Release 1.5.0 does not. The report shows what broke.",
        "run traces/regressed.otlp.jsonl --golden support.evalset.json --where 'len(turns) > 0'",
    ),
    DemoStep(
        "Or ask the agent itself: here a small scripted one, twice for each question.",
        f"run --target python:shop_agent.py:answer --repeat 2 {_LIVE}",
    ),
    DemoStep(
        "Its next release asks for the wrong tyre.",
        f"run --target python:shop_agent.py:answer_regressed --repeat 2 {_LIVE}",
    ),
)


@command("carob demo", "carob demo --keep carob-demo")
@option(
    "--keep",
    metavar="DIRECTORY",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the sample data and all results in a new directory.",
)
def demo(keep: Path | None) -> None:
    """Run a full walkthrough on sample data.

    Works offline and takes a few seconds.
    """
    with _folder(keep) as folder:
        for step in STEPS:
            _show(step)
            _run(shlex.split(step.command))
        click.echo(
            f"\nThe files are in {folder}."
            if keep
            else "\nNext: carob --help, or carob serve --demo"
        )


def _show(step: DemoStep) -> None:
    comment = Painted(f"# {step.comment}", "hint")
    prompt = Painted(f"$ carob {step.command}", "strong")
    emit_text(join_lines(["", comment, prompt], display(None)), None)


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    """Copy the sample data to a directory, and make it the working directory meanwhile."""
    if keep and keep.is_dir() and any(keep.iterdir()):
        raise UsageError(f"{keep} is not empty", hint="pass a new directory")
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        with resources.as_file(resources.files("carob") / "demo" / "data") as data:
            shutil.copytree(data, folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(here)


def _run(args: list[str]) -> None:
    sys.stdout.flush()
    with suppress(SystemExit):  # the last command exits 1
        carob.main(args, prog_name="carob", color=color_setting(), standalone_mode=False)
