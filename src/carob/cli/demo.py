"""`carob demo`: the whole story, told by the real commands on bundled data."""

from __future__ import annotations

import os
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
from carob.errors import UsageError


class Step(NamedTuple):
    """What a command is for, and the command."""

    why: str
    command: str


STORY = (
    Step("A bike shop has golden data for its support agent.", "show support.evalset.json"),
    Step(
        "Every format is recognised by its content, and checked by its own rules.",
        "validate support.evalset.json support_golden.json support.csv support.explain.jsonl",
    ),
    Step(
        "Any format becomes any other. What the target has no place for is named …",
        "convert support.evalset.json converted.csv --to csv",
    ),
    Step(
        "… and carried along, so that the way back is exact.",
        "convert converted.csv back.json --to adk",
    ),
    Step(
        "The agent was recorded with OpenTelemetry. Release 1.4.0 does what is expected of it.",
        "run traces/good.otlp.jsonl --golden support.evalset.json --allow-unscored",
    ),
    Step(
        "Release 1.5.0 does not, and here is what broke.",
        "run traces/regressed.otlp.jsonl --golden support.evalset.json",
    ),
)


@click.command()
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    help="Leave the bundled data and all that is made of it in this folder, a new one.",
)
def demo(keep: Path | None) -> None:
    """Tell the whole story on bundled data: offline, in seconds."""
    with _folder(keep) as folder:
        for step in STORY:
            click.secho(f"\n# {step.why}", fg="cyan")
            click.secho(f"$ carob {step.command}", bold=True)
            _carry_out(step.command.split())
        click.echo(f"\nThe files are in {folder}." if keep else "\nMore: carob --help")


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    """The bundled data in a folder of its own, which is the current one meanwhile."""
    if keep and keep.is_dir() and any(keep.iterdir()):
        raise UsageError(f"{keep} has files already", hint="name a new folder")
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


def _carry_out(args: list[str]) -> None:
    sys.stdout.flush()
    with suppress(SystemExit):  # a command that did not pass is part of the story
        carob.main(args, prog_name="carob", standalone_mode=False)
