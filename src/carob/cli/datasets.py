"""Commands for golden data: validate, show, subset, convert, lint, schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import cast, get_args

import click

from carob import api
from carob.cli.names import GOLDEN_FORMAT
from carob.cli.options import (
    FILE,
    INPUT,
    append_option,
    check_append,
    command,
    config_option,
    force_option,
    from_format,
    option,
    output_option,
    output_options,
    selection_options,
    to_option,
)
from carob.cli.output import emit, emit_result, show_problem
from carob.cli.progress import progress_line
from carob.errors import LossError
from carob.files.stdin import is_stdin
from carob.report.datasets import (
    format_conversion,
    format_lint,
    format_lint_sarif,
    format_subset,
    format_summaries,
    format_validations,
)
from carob.schema import Conversion, DatasetPurpose, LintedFile, Problem


@command(
    "carob validate golden/*.json",
    "carob validate table.csv --from simulation --agent billing --agent returns",
)
@click.argument("files", nargs=-1, required=True, type=INPUT)
@from_format
@option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    help="Name of an existing agent. Repeatable.",
)
@option("--catalogue", type=FILE, help="Catalog of existing scenarios.")
@option("--all", "every", is_flag=True, help="List every problem, also those that repeat.")
@config_option
@output_options()
def validate(
    files: tuple[Path, ...],
    name: str | None,
    agents: tuple[str, ...],
    catalogue: Path | None,
    every: bool,
    config: Path | None,
    form: str,
    output: Path | None,
) -> None:
    """Validate golden files and list every problem.

    FILES may be folders, and `-` for standard input. Problems are listed with their
    location and a hint; those that repeat are listed once. Exits 1 if a file is
    invalid, 2 if a file cannot be read or its format is unknown.
    """
    with progress_line("validating") as line:
        validations = api.datasets.validate(
            files,
            from_=name,
            agents=agents or None,
            catalogue=catalogue,
            config=config,
            report=line.report,
            progress=line.of("validating", 10**6, " MB"),
        )
    text = partial(format_validations, validations, every=every)
    emit_result({"files": validations}, form, output, text)
    if any(validation.format is None for validation in validations):
        sys.exit(2)
    sys.exit(0 if all(validation.valid for validation in validations) else 1)


@command("carob show golden/*.json", "carob show golden.csv --from simulation --format json")
@click.argument("files", nargs=-1, required=True, type=INPUT)
@from_format
@output_options()
def show(files: tuple[Path, ...], name: str | None, form: str, output: Path | None) -> None:
    """Show a summary of a dataset.

    Counts cases, turns, tags, tools, agents and metadata, for each of FILES, which may
    be folders, and `-` for standard input. Exits 2 if a file cannot be read.
    """
    problems: list[Problem] = []
    with progress_line("reading") as line:
        summaries = api.datasets.summarise_files(
            files, from_=name, report=problems.append, progress=line.reading
        )
    for problem in problems:
        show_problem(problem)
    # A single file has been an object since the first version; scripts read its keys.
    document = summaries[0] if len(summaries) == 1 else {"datasets": summaries}
    emit_result(document, form, output, partial(format_summaries, summaries))
    sys.exit(2 if any(problem.severity == "error" for problem in problems) else 0)


@command(
    "carob subset golden.json edge.json --tag edge-case",
    "carob subset golden.json long.json --where 'len(turns) > 1'",
)
@click.argument("src", type=INPUT)
@click.argument("dst", type=FILE)
@selection_options
@from_format
@force_option
@output_options()
def subset(
    src: Path,
    dst: Path,
    tags: tuple[str, ...],
    where: str | None,
    cases: tuple[str, ...],
    limit: int | None,
    name: str | None,
    force: bool,
    form: str,
    output: Path | None,
) -> None:
    """Write selected cases of a dataset to a new file.

    DST has the format of SRC. An expression refers to the fields of a case, such as
    'metadata.criticality == "high" and len(turns) > 1'.
    """
    if not (tags or where is not None or cases or limit):
        raise click.UsageError("No cases selected; pass --tag, --where, --case or --limit.")
    with progress_line("selecting") as line:
        part = api.datasets.subset(
            src,
            dst,
            tags=tags,
            where=where,
            cases=cases,
            limit=limit,
            from_=name,
            force=force,
            progress=line.reading,
        )
    summary = part.summary()
    emit_result(summary, form, output, partial(format_subset, dst, summary))


@command(
    "carob convert golden.csv golden.json --to adk --strict",
    "carob convert more.csv golden.json --append",
)
@click.argument("src", type=INPUT)
@click.argument("dst", type=FILE)
@to_option
@from_format
@option("--drop", is_flag=True, help="Drop fields without an equivalent in the output format.")
@option("--strict", is_flag=True, help="Write nothing and exit 1 if a field has no equivalent.")
@append_option
@force_option
@output_options()
def convert(
    src: Path,
    dst: Path,
    to: str | None,
    name: str | None,
    drop: bool,
    strict: bool,
    append: bool,
    force: bool,
    form: str,
    output: Path | None,
) -> None:
    """Convert golden data to another format.

    Fields without an equivalent in the output format are reported and preserved, so
    that converting back restores the source exactly. They are stored under the key
    `carob` in JSON documents, and in the sidecar file DST.carob.json otherwise.

    With --append, the cases are added after those of DST, with unique ids; cases that
    DST has are skipped.
    """
    check_append(append, force)
    try:
        with progress_line("converting") as line:
            conversion = api.datasets.convert(
                src,
                dst,
                to=to,
                from_=name,
                drop=drop,
                strict=strict,
                append=append,
                force=force,
                reading=line.reading,
                progress=line.of("converting", 1, " cases"),
            )
    except LossError as error:  # the report says which fields, the error sets the exit code
        emit_conversion(cast("Conversion", error.conversion), form, output)
        raise
    emit_conversion(conversion, form, output)


def emit_conversion(conversion: Conversion, form: str, output: Path | None) -> None:
    """Print the fields that a conversion lost or preserved."""
    emit_result(conversion, form, output, partial(format_conversion, conversion))


@command(
    "carob lint golden/*.json --use regression",
    "carob lint golden.json --format sarif -o lint.sarif",
)
@click.argument("files", nargs=-1, required=True, type=INPUT)
@from_format
@option("--fix", is_flag=True, help="Mask personal data and secrets in the files.")
@option(
    "--use",
    type=click.Choice(get_args(DatasetPurpose)),
    help="Purpose of the dataset, which determines its minimum size.",
)
@option("--ignore", multiple=True, metavar="RULE", help="Rule to ignore. Repeatable.")
@option("--strict", is_flag=True, help="Treat warnings as errors.")
@config_option
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
    """Check golden data for PII, secrets, duplicates and more.

    FILES may be folders, and `-` for standard input. Exits 1 if there are errors.
    Suppress rules with --ignore, under [lint] in carob.toml, or with `lint_ignore` in
    the metadata of a case.
    """
    if fix and is_stdin(files):
        raise click.UsageError("--fix changes files; it cannot change standard input.")
    with progress_line("checking") as line:
        linted = api.lint.lint(
            files,
            from_=name,
            ignore=ignore,
            use=use,
            config=config,
            fix=fix,
            report=line.report,
            progress=line.of("checking", 10**6, " MB"),
        )
    rules = api.lint.lint_rules()
    text = partial(format_lint, linted, rules)
    sarif = partial(format_lint_sarif, linted, rules)
    emit_result({"files": linted}, form, output, text, sarif=sarif)
    sys.exit(1 if _has_errors(linted, strict) else 0)


def _has_errors(files: Iterable[LintedFile], strict: bool) -> bool:
    levels = {"error", "warning"} if strict else {"error"}
    return any(finding.level in levels for file in files for finding in file.findings)


@command("carob schema adk", "carob schema questions -o questions.schema.json")
@click.argument("name", type=GOLDEN_FORMAT, metavar="FORMAT")
@force_option
@output_option
def schema(name: str, force: bool, output: Path | None) -> None:
    """Print the JSON Schema of a format.

    Editors use it to validate and complete golden files.
    """
    emit(api.datasets.json_schema(name), output, overwrite=force)
