"""Commands for golden data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import click

from carob import api
from carob.cli import show_error
from carob.cli.arguments import FILE, from_format
from carob.cli.output import emit, output_options
from carob.errors import LossError
from carob.report import render, text
from carob.schema import Conversion


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@from_format
@click.option("--agent", "agents", multiple=True, help="An agent that exists. Give it for each.")
@click.option("--catalogue", type=FILE, help="Catalogue of the scenarios that exist.")
@output_options()
def validate(
    files: tuple[Path, ...],
    name: str | None,
    agents: tuple[str, ...],
    catalogue: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Check golden files and name every problem, with its place and a hint.

    The format is recognised by content. Exit code 1 if a file is not valid, 2 if one cannot be
    read or is of no known format.
    """
    found = api.validate(files, format=name, agents=agents or None, catalogue=catalogue)
    emit(render({"files": found}, form, {"text": lambda: text.validations(found)}), output)
    if any(one.format is None for one in found):
        sys.exit(2)
    sys.exit(0 if all(one.valid for one in found) else 1)


@click.command()
@click.argument("file", type=FILE)
@from_format
@output_options()
def show(file: Path, name: str | None, form: str, output: Path | None) -> None:
    """Summarise a dataset: cases, tags, context, turns, tools, agents, format."""
    summary = api.summarise(file, format=name)
    emit(render(summary, form, {"text": lambda: text.summary(summary)}), output)


@click.command()
@click.argument("src", type=FILE)
@click.argument("dst", type=FILE)
@click.option("--tag", "tags", multiple=True, help="Keep cases with this tag; of several, all.")
@click.option("--where", help="Keep cases for which an expression over their fields holds.")
@from_format
@output_options()
def subset(
    src: Path,
    dst: Path,
    tags: tuple[str, ...],
    where: str | None,
    name: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Write the cases of SRC that match to DST, in the same format.

    \b
    carob subset golden.json edge.json --tag edge-case
    carob subset golden.json high.json --where 'metadata.criticality == "high" and len(turns) > 1'
    """
    if not tags and where is None:
        raise click.UsageError("Nothing to choose by: give --tag or --where.")
    part = api.subset(src, dst, tags=tags, where=where, format=name)
    summary = part.summary()
    emit(render(summary, form, {"text": lambda: text.written(dst, summary)}), output)


@click.command()
@click.argument("src", type=FILE)
@click.argument("dst", type=FILE)
@click.option("--to", required=True, help="Format to convert to.")
@from_format
@click.option("--drop", is_flag=True, help="Do not carry along what DST has no place for.")
@click.option("--strict", is_flag=True, help="Write nothing and exit 1 if anything is lost.")
@output_options()
def convert(
    src: Path,
    dst: Path,
    to: str,
    name: str | None,
    drop: bool,
    strict: bool,
    form: str,
    output: Path | None,
) -> None:
    """Convert golden data, and report field by field what the target has no place for.

    That is carried along, so that converting back restores the source exactly: under the key
    `carob` in JSON documents, in DST.carob.json beside rows and tables.
    """
    try:
        made = api.convert(src, dst, to=to, format=name, drop=drop, strict=strict)
    except LossError as error:
        made = cast("Conversion", error.conversion)
        emit(render(made, form, {"text": lambda: text.conversion(made)}), output)
        show_error(error)
        sys.exit(1)
    emit(render(made, form, {"text": lambda: text.conversion(made)}), output)


@click.command()
@click.argument("name", metavar="FORMAT")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the result to a file instead.",
)
def schema(name: str, output: Path | None) -> None:
    """Print the JSON Schema of a format, so that an editor checks a file while it is written."""
    emit(api.json_schema(name), output)
