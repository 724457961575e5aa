"""Commands for versions of golden data: diff, release, versions, checkout, review."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

import click

from carob.api import release as release_api
from carob.api import versions as versions_api
from carob.cli.options import FILE, command, force_option, from_format, option, output_options
from carob.cli.output import emit
from carob.errors import UsageError
from carob.report import render
from carob.report.versions import (
    diff_document,
    format_diff,
    format_diff_markdown,
    format_release,
    format_releases,
    format_reviews,
    format_verification,
)
from carob.schema import Bump, ReviewStatus

_registry_option = option(
    "--registry",
    type=FILE,
    default=versions_api.REGISTRY,
    show_default=True,
    help="Directory of releases.",
)
_date_option = option("--date", help="Date or time to record.", show_default="now")


@command("carob diff old.json new.json", "carob diff support@1.2.0 support.json --format md")
@click.argument("old")
@click.argument("new")
@option("--exit-code", is_flag=True, help="Exit 1 if there are differences.")
@_registry_option
@output_options("md")
def diff(
    old: str, new: str, exit_code: bool, registry: Path, form: str, output: Path | None
) -> None:
    """Show changes between datasets and the version bump.

    OLD and NEW are golden files of any format, or releases such as support@1.2.0.

    \b
    major  a case was removed, or what it asks or expects changed its meaning
    minor  cases were added
    patch  wording, tags, metadata, description, lineage or order changed
    """
    changes = versions_api.diff(old, new, registry=registry)
    color = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    forms = {
        "text": lambda: format_diff(changes, color=color),
        "md": lambda: format_diff_markdown(changes),
    }
    emit(render(diff_document(changes), form, forms), output, styled=color and form == "text")
    sys.exit(1 if exit_code and changes.bump != "none" else 0)


@command(
    "carob release support.json",
    "carob release support.json --bump minor --note 'Add refund cases'",
)
@click.argument("file", type=FILE)
@option("--bump", type=click.Choice(["major", "minor", "patch"]), help="Minimum version bump.")
@option("--version", help="Exact version.", show_default="derived from the changes")
@option(
    "--for",
    "made_for",
    multiple=True,
    metavar="NAME",
    help="Model or agent version that the release is for. Repeatable.",
)
@option("--by", metavar="NAME", help="Author of the release.", show_default="git or system user")
@option(
    "--note", "notes", multiple=True, metavar="TEXT", help="Line for the changelog. Repeatable."
)
@option("--require-approved", is_flag=True, help="Require that all cases are approved.")
@_date_option
@from_format
@_registry_option
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
    """Release a dataset as an immutable version.

    The version is derived from the changes since the last release, written into FILE
    if its format has a version field, and added to the changelog. Exits 1 if the
    changes require a higher version.
    """
    if bump and version:
        raise click.UsageError("--bump and --version cannot be combined.")
    released = release_api.release(
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
    folder = versions_api.release_folder(released, registry=registry)
    emit(render(released, form, {"text": lambda: format_release(released, folder)}), output)


@command("carob versions support --format md", "carob versions --verify")
@click.argument("name", required=False)
@option("--verify", is_flag=True, help="Verify that no release was changed.")
@_registry_option
@output_options("md")
def versions(
    name: str | None, verify: bool, registry: Path, form: str, output: Path | None
) -> None:
    """List or verify released versions.

    With --verify, all digests and the chain of releases are checked; exits 1 if a
    release was edited, replaced or deleted. --format md prints the changelog of NAME.
    """
    if verify:
        _verify(name, registry, form, output)
    if form == "md":
        if name is None:
            raise click.UsageError("--format md requires the NAME of a dataset.")
        emit(versions_api.changelog(name, registry=registry), output)
        return
    releases = versions_api.versions(name, registry=registry)
    forms = {"text": lambda: format_releases(releases)}
    emit(render({"releases": releases}, form, forms), output)


def _verify(name: str | None, registry: Path, form: str, output: Path | None) -> None:
    problems = versions_api.verify(registry=registry)
    document = {"valid": not problems, "problems": problems}
    verified = 0 if problems else len(versions_api.versions(name, registry=registry))
    if not problems and not verified:  # not a pass: the registry is elsewhere, or gone
        raise UsageError(f"no releases in {registry}", hint="pass its directory with --registry")
    forms = {"text": lambda: format_verification(problems, verified)}
    emit(render(document, form, forms), output)
    sys.exit(1 if problems else 0)


@command("carob checkout support@1.2.0", "carob checkout support@^1 golden/support.json")
@click.argument("reference", metavar="NAME@VERSION")
@click.argument("dst", type=FILE, required=False)
@force_option
@_registry_option
@output_options()
def checkout(
    reference: str, dst: Path | None, force: bool, registry: Path, form: str, output: Path | None
) -> None:
    """Copy a released version to a file.

    Without DST, the file keeps the name that it was released under.
    """
    copied = versions_api.checkout(reference, dst, force=force, registry=registry)
    forms = {"text": lambda: format_release(copied.release, copied.path)}
    emit(render(copied.release, form, forms), output)


@command(
    "carob review golden.json",
    "carob review golden.json refund_policy --as approved --by 'Lena Ortiz'",
)
@click.argument("file", type=FILE)
@click.argument("cases", nargs=-1)
@option(
    "--as",
    "status",
    type=click.Choice(["draft", "reviewed", "approved"]),
    help="Status to set.",
)
@option("--all", "everything", is_flag=True, help="Set the status of all cases.")
@option("--by", metavar="NAME", help="Reviewer, required by --as.")
@_date_option
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
    """Show or set the review status of cases.

    Without --as, shows the review status and the lineage of CASES, or of all cases.
    """
    if status is None:
        reviews = versions_api.review(file, format=name)
        reviews = tuple(review for review in reviews if not cases or review.case in cases)
    else:
        _check_review(cases, everything, by)
        reviews = versions_api.mark_reviewed(
            file,
            None if everything else cases,
            cast("ReviewStatus", status),
            by=by or "",
            date=date,
            format=name,
        )
    emit(render({"cases": reviews}, form, {"text": lambda: format_reviews(reviews)}), output)


def _check_review(cases: tuple[str, ...], everything: bool, by: str | None) -> None:
    if not by:
        raise click.UsageError("--as requires a reviewer; pass --by.")
    if bool(cases) == everything:
        raise click.UsageError("Pass either CASES or --all.")
