"""What commands take in the same way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click

FILE = click.Path(readable=False, path_type=Path)  # whoever reads it says what is wrong with it
from_format = click.option(
    "--from", "name", help="Format of the file, if it is not to be recognised."
)


F = TypeVar("F", bound=Callable[..., object])


def judge_options(command: F) -> F:
    """Who is asked, and how much of it is allowed."""
    options = [
        click.option("--judge", metavar="PROVIDER:MODEL", help="The model that judges ask."),
        click.option("--judge-url", metavar="URL", help="Its address, if it is OpenAI-compatible."),
        click.option(
            "--concurrency", type=click.IntRange(min=1), help="Questions at the same time; 16."
        ),
        click.option("--max-calls", type=click.IntRange(min=1), help="Stop after so many calls."),
        click.option(
            "--max-cost",
            type=click.FloatRange(min=0, min_open=True),
            metavar="DOLLARS",
            help="Stop before it costs more.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command
