"""`carob lint`: hygiene of golden data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import click

from carob import api
from carob.cli.arguments import FILE
from carob.cli.output import emit, output_options
from carob.report import lint as report
from carob.report import render
from carob.schema import DatasetUse, LintedFile


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--from", "name", help="Format of the files, if it is not to be recognised.")
@click.option("--fix", is_flag=True, help="Mask personal data and secrets in the files.")
@click.option(
    "--use", type=click.Choice(get_args(DatasetUse)), help="What the data is for: judges its size."
)
@click.option("--ignore", multiple=True, metavar="RULE", help="A rule to leave out. For each.")
@click.option("--strict", is_flag=True, help="Warnings are failures as well.")
@click.option("-c", "--config", type=FILE, help="A carob.toml other than the one that is here.")
@output_options("sarif")
def lint(
    files: tuple[Path, ...],
    name: str | None,
    fix: bool,
    use: DatasetUse | None,
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
    found = api.lint(files, format=name, ignore=ignore, use=use, config=config, fix=fix)
    rules = api.lint_rules()
    forms = {
        "text": lambda: report.text(found, rules),
        "sarif": lambda: report.as_sarif(found, rules),
    }
    emit(render({"files": found}, form, forms), output)
    sys.exit(1 if _failed(found, strict) else 0)


def _failed(files: Iterable[LintedFile], strict: bool) -> bool:
    failing = {"error", "warning"} if strict else {"error"}
    return any(finding.level in failing for file in files for finding in file.findings)
