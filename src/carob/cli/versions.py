"""Commands for versions of golden data: diff, release, versions, checkout, review."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import cast

import click

from carob import api
from carob.cli.names import RELEASE, RELEASED_DATASET
from carob.cli.options import FILE, command, force_option, from_format, option, output_options
from carob.cli.output import emit, emit_result
from carob.cli.progress import progress_line
from carob.errors import UsageError
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
    default=lambda: api.versions.REGISTRY,
    show_default="golden/registry",
    help="Directory of releases.",
)
_date_option = option("--date", help="Date or time to record.", show_default="now")


@command("carob diff old.json new.json", "carob diff support@1.2.0 support.json --format md")
@click.argument("old", type=RELEASE)
@click.argument("new", type=RELEASE)
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
    patch  only wording, tags, metadata, description, lineage or order changed
    """
    with progress_line("comparing") as line:
        changes = api.versions.diff(old, new, registry=registry, progress=line.reading)
    text = partial(format_diff, changes)
    md = partial(format_diff_markdown, changes)
    emit_result(diff_document(changes), form, output, text, md=md)
    sys.exit(1 if exit_code and changes.bump != "none" else 0)


@command(
    "carob release support.json",
    "carob release support.json --bump patch --because 'Same answer in other words'",
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
@option(
    "--because",
    metavar="TEXT",
    help="Reason for a version that is lower than the changes require. Recorded.",
)
@option("--require-approved", is_flag=True, help="Require that all cases are approved.")
@option("--no-lint", is_flag=True, help="Release in spite of lint errors. Recorded.")
@option(
    "--allow-synthetic",
    is_flag=True,
    help="Release synthetic cases that nobody has reviewed. Recorded.",
)
@option("--new-dataset", is_flag=True, help="Allow the cases of a dataset with a similar name.")
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
    because: str | None,
    require_approved: bool,
    no_lint: bool,
    allow_synthetic: bool,
    new_dataset: bool,
    date: str | None,
    name: str | None,
    registry: Path,
    form: str,
    output: Path | None,
) -> None:
    """Release a dataset as an immutable version.

    The version is derived from the changes since the last release, written into FILE
    if its format has a version field, and added to the changelog. Exits 1 if the
    changes require a higher version, or if the linter finds errors.
    """
    if bump and version:
        raise click.UsageError("--bump and --version cannot be combined.")
    with progress_line("releasing") as line:
        released = api.release.release(
            file,
            progress=line.reading,
            bump=cast("Bump | None", bump),
            version=version,
            for_=made_for,
            by=by,
            date=date,
            note=notes,
            because=because,
            require_approved=require_approved,
            lint=not no_lint,
            allow_synthetic=allow_synthetic,
            new_dataset=new_dataset,
            registry=registry,
            from_=name,
        )
    folder = api.versions.release_folder(released, registry=registry)
    emit_result(released, form, output, partial(format_release, released, folder))


@command("carob versions support --format md", "carob versions --verify")
@click.argument("name", type=RELEASED_DATASET, required=False)
@option("--verify", is_flag=True, help="Verify that no release was changed.")
@option(
    "--head",
    "heads",
    multiple=True,
    metavar="DIGEST",
    help="Head of an earlier --verify that must still hold. Repeatable.",
)
@_registry_option
@output_options("md")
def versions(
    name: str | None,
    verify: bool,
    heads: tuple[str, ...],
    registry: Path,
    form: str,
    output: Path | None,
) -> None:
    """List or verify released versions.

    With --verify, all digests and the chain of releases are checked; exits 1 if a
    release was edited, replaced or deleted. Someone who rewrites the newest release
    and the note about it is only noticed with --head. --format md prints the
    changelog of NAME.
    """
    if verify or heads:
        _verify(name, heads, registry, form, output)
    if form == "md":
        if name is None:
            raise click.UsageError("--format md requires the NAME of a dataset.")
        emit(api.versions.changelog(name, registry=registry), output)
        return
    releases = api.versions.versions(name, registry=registry)
    emit_result({"releases": releases}, form, output, partial(format_releases, releases))


def _verify(
    name: str | None, heads: tuple[str, ...], registry: Path, form: str, output: Path | None
) -> None:
    with progress_line("verifying") as line:
        progress = line.of("verifying", unit_name=" releases")
        problems = api.versions.verify(registry=registry, heads=heads, progress=progress)
    verified = () if problems else api.versions.versions(name, registry=registry)
    newest = {release.name: release.seal for release in verified}
    document = {"valid": not problems, "heads": newest, "problems": problems}
    if not problems and not verified:  # not a pass: the registry is elsewhere, or gone
        raise UsageError(f"no releases in {registry}", hint="pass its directory with --registry")
    emit_result(document, form, output, partial(format_verification, problems, verified))
    sys.exit(1 if problems else 0)


@command("carob checkout support@1.2.0", "carob checkout support@^1 golden/support.json")
@click.argument("reference", type=RELEASE, metavar="NAME@VERSION")
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
    with progress_line("copying") as line:
        copied = api.versions.checkout(
            reference,
            dst,
            force=force,
            registry=registry,
            progress=line.of("copying", 10**6, " MB"),
        )
    text = partial(format_release, copied.release, copied.path)
    emit_result(copied.release, form, output, text)


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
    A case is named by its id, its position (12), or a part of what the user says.
    """
    if status is not None:
        _check_review(cases, everything, by)
    with progress_line("reviewing") as line:
        if status is None:
            named = cases or None
            reviews = api.versions.review(file, named, from_=name, progress=line.reading)
        else:
            reviews = api.versions.mark_reviewed(
                file,
                None if everything else cases,
                cast("ReviewStatus", status),
                by=by or "",
                date=date,
                from_=name,
                progress=line.reading,
            )
    emit_result({"cases": reviews}, form, output, partial(format_reviews, reviews))


def _check_review(cases: tuple[str, ...], everything: bool, by: str | None) -> None:
    if not by:
        raise click.UsageError("--as requires a reviewer; pass --by.")
    if bool(cases) == everything:
        raise click.UsageError("Pass either CASES or --all.")
