"""Commands for versions of golden data."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

import click

from carob.api import release as release_api
from carob.api import versions as versions_api
from carob.api.load import REGISTRY
from carob.cli import show_error
from carob.cli.options import FILE, from_format
from carob.cli.output import emit, output_options
from carob.errors import RefusedError, UsageError
from carob.report import render
from carob.report import versions as text
from carob.schema import Bump, ReviewStatus

_registry = click.option(
    "--registry",
    type=FILE,
    default=REGISTRY,
    show_default=True,
    help="Folder of the releases.",
)
_date = click.option("--date", help="Day or time of it, instead of now.")


@click.command()
@click.argument("old")
@click.argument("new")
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there are differences.")
@_registry
@output_options("md")
def diff(
    old: str, new: str, exit_code: bool, registry: Path, form: str, output: Path | None
) -> None:
    """Show what changed from OLD to NEW, and the semantic version bump that it demands.

    Both are golden files of any format, or releases such as support@1.2.0.

    \b
    major  a case is gone, or what it asks or expects has another meaning
    minor  cases were added
    patch  wording, tags, metadata, description, lineage, order
    """
    found = versions_api.diff(old, new, registry=registry)
    colour = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    forms = {
        "text": lambda: text.diff(found, colour=colour),
        "md": lambda: text.diff_markdown(found),
    }
    emit(render(text.diff_document(found), form, forms), output)
    sys.exit(1 if exit_code and found.bump != "none" else 0)


@click.command()
@click.argument("file", type=FILE)
@click.option("--bump", type=click.Choice(["major", "minor", "patch"]), help="At least this bump.")
@click.option("--version", help="Exactly this version.")
@click.option("--for", "made_for", multiple=True, help="Model or agent version that it is for.")
@click.option("--by", help="Who releases it. Otherwise who git, or the system, says you are.")
@click.option("--note", "notes", multiple=True, help="A line for the changelog.")
@click.option("--require-approved", is_flag=True, help="Refuse if a case is not approved.")
@_date
@from_format
@_registry
@output_options()
def release(
    file: Path,
    bump: str | None,
    version: str | None,
    made_for: tuple[str, ...],
    by: str | None,
    notes: tuple[str, ...],
    require_approved: bool,
    date: str | None,
    name: str | None,
    registry: Path,
    form: str,
    output: Path | None,
) -> None:
    """Freeze FILE as a version that can no longer change.

    The version follows from what changed since the last release; a lower one is refused (exit code
    1). The version is written into the file where its format has a place, and the changelog grows.
    """
    if bump and version:
        raise click.UsageError("Give --bump or --version, not both.")
    try:
        made = release_api.release(
            file,
            bump=cast("Bump | None", bump),
            version=version,
            made_for=made_for,
            by=by,
            date=date,
            notes=notes,
            require_approved=require_approved,
            registry=registry,
            format=name,
        )
    except RefusedError as error:
        show_error(error)
        sys.exit(1)
    folder = versions_api.release_folder(made, registry=registry)
    emit(render(made, form, {"text": lambda: text.release(made, folder)}), output)


@click.command()
@click.argument("name", required=False)
@click.option("--verify", is_flag=True, help="Check that every release is as it was released.")
@_registry
@output_options("md")
def versions(
    name: str | None, verify: bool, registry: Path, form: str, output: Path | None
) -> None:
    """List the releases of all datasets, or of one.

    --verify makes every digest anew and follows the chain of releases: what was edited, replaced or
    deleted is named, and the exit code is 1. --format md prints the changelog of one dataset.
    """
    if verify:
        problems = versions_api.verify(registry=registry)
        document = {"valid": not problems, "problems": problems}
        intact = 0 if problems else len(versions_api.versions(name, registry=registry))
        if not problems and not intact:  # no good news: the registry is elsewhere, or gone
            raise UsageError(f"there are no releases in {registry}", hint="name it with --registry")
        shown = {"text": lambda: text.verification(problems, intact)}
        emit(render(document, form, shown), output)
        sys.exit(1 if problems else 0)
    if form == "md" and name is None:
        raise click.UsageError("A changelog is that of one dataset: give its name.")
    if form == "md":
        emit(versions_api.changelog(cast("str", name), registry=registry), output)
        return
    found = versions_api.versions(name, registry=registry)
    emit(render({"releases": found}, form, {"text": lambda: text.releases(found)}), output)


@click.command()
@click.argument("reference", metavar="NAME@VERSION")
@click.argument("dst", type=FILE, required=False)
@click.option("--force", is_flag=True, help="Replace DST if it is there.")
@_registry
@output_options()
def checkout(
    reference: str, dst: Path | None, force: bool, registry: Path, form: str, output: Path | None
) -> None:
    """Copy a released version to DST.

    \b
    carob checkout support@1.2.0
    carob checkout support@^1 golden/support.json
    """
    try:
        made = versions_api.checkout(reference, dst, force=force, registry=registry)
    except RefusedError as error:
        show_error(error)
        sys.exit(1)
    emit(
        render(made.release, form, {"text": lambda: text.release(made.release, made.path)}), output
    )


@click.command()
@click.argument("file", type=FILE)
@click.argument("cases", nargs=-1)
@click.option(
    "--as", "status", type=click.Choice(["draft", "reviewed", "approved"]), help="Set this status."
)
@click.option("--all", "everything", is_flag=True, help="Set it for all cases.")
@click.option("--by", help="Who reviewed them.")
@_date
@from_format
@output_options()
def review(
    file: Path,
    cases: tuple[str, ...],
    status: str | None,
    everything: bool,
    by: str | None,
    date: str | None,
    name: str | None,
    form: str,
    output: Path | None,
) -> None:
    """Show the review and the lineage of each case in FILE, or set the review of some.

    \b
    carob review golden.json
    carob review golden.json refund_policy opening_hours --as approved --by "Lena Ortiz"
    """
    if status is None:
        found = versions_api.review(file, format=name)
        found = tuple(one for one in found if not cases or one.case in cases)
    else:
        _expect_reviewer(cases, everything, by)
        found = versions_api.mark_reviewed(
            file,
            None if everything else cases,
            cast("ReviewStatus", status),
            by=by or "",
            date=date,
            format=name,
        )
    emit(render({"cases": found}, form, {"text": lambda: text.reviews(found)}), output)


def _expect_reviewer(cases: tuple[str, ...], everything: bool, by: str | None) -> None:
    if not by:
        raise click.UsageError("A review needs a reviewer: give --by.")
    if bool(cases) == everything:
        raise click.UsageError("Name the cases, or give --all.")
