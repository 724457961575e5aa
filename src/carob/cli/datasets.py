"""Commands for golden data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import cast, get_args

import click

from carob.api import datasets
from carob.api import lint as lint_api
from carob.cli import show_error
from carob.cli.options import FILE, from_format
from carob.cli.output import emit, output_options
from carob.errors import LossError
from carob.report import lint as report
from carob.report import render, text
from carob.schema import Conversion, DatasetPurpose, LintedFile


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
    found = datasets.validate(files, format=name, agents=agents or None, catalogue=catalogue)
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
    summary = datasets.summarise(file, format=name)
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
    part = datasets.subset(src, dst, tags=tags, where=where, format=name)
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
        made = datasets.convert(src, dst, to=to, format=name, drop=drop, strict=strict)
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
    emit(datasets.json_schema(name), output)


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--from", "name", help="Format of the files, if it is not to be recognised.")
@click.option("--fix", is_flag=True, help="Mask personal data and secrets in the files.")
@click.option(
    "--use",
    type=click.Choice(get_args(DatasetPurpose)),
    help="What the data is for: judges its size.",
)
@click.option("--ignore", multiple=True, metavar="RULE", help="A rule to leave out. For each.")
@click.option("--strict", is_flag=True, help="Warnings are failures as well.")
@click.option("-c", "--config", type=FILE, help="A carob.toml other than the one that is here.")
@output_options("sarif")
def lint(
    files: tuple[Path, ...],
    name: str | None,
    fix: bool,
    use: DatasetPurpose | None,
    ignore: tuple[str, ...],
    strict: bool,
    config: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Find personal data, secrets, duplicates, contradictions and more in golden files.

    \b
    carob lint golden/*.json --use regression
    carob lint golden.json --fix
    carob lint golden.json --format sarif -o lint.sarif

    Exit code 1 if there is an error, with --strict also if there is a warning. Rules are left out
    by --ignore, under [lint] in carob.toml, or by a case with `lint_ignore` in its metadata.
    """
    found = lint_api.lint(files, format=name, ignore=ignore, use=use, config=config, fix=fix)
    rules = lint_api.lint_rules()
    forms = {
        "text": lambda: report.text(found, rules),
        "sarif": lambda: report.as_sarif(found, rules),
    }
    emit(render({"files": found}, form, forms), output)
    sys.exit(1 if _failed(found, strict) else 0)


def _failed(files: Iterable[LintedFile], strict: bool) -> bool:
    failing = {"error", "warning"} if strict else {"error"}
    return any(finding.level in failing for file in files for finding in file.findings)
