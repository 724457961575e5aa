"""Refuse golden data that is not fit for a release."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

from carob.api.lint import lint_errors
from carob.api.load import check_unique_ids, load_release
from carob.errors import CarobError, RefusedError
from carob.schema import Case, Dataset, Diff, Finding, Release
from carob.schema.synth import SOURCE, SYNTHETIC
from carob.schema.versions import LintState
from carob.text.spelling import nearest_name
from carob.versions.registry import DatasetReleases, Registry
from carob.versions.review import list_unapproved, review_status

CaseContent: TypeAlias = tuple[tuple[str | None, str | None], ...]
"""The message and the expected answer of each turn."""
_SHOWN = 20
_SAME_DATASET = 0.5
"""The share of equal cases from which two datasets with similar names are the same one."""
_MIDNIGHT = "T00:00:00Z"


def check_usable(dataset: Dataset) -> None:
    """Refuse golden data that no run can be made with."""
    if not dataset.cases:
        raise RefusedError(f"{dataset.name} has no cases to release")
    check_unique_ids(dataset)


def check_lint(file: Path, *, from_: str | None) -> LintState:
    """Refuse personal data, secrets, contradictions and other errors of the linter."""
    result = lint_errors(file, from_=from_)
    if result.errors:
        listing = _list_some([_describe(finding) for finding in result.errors], "\n  ")
        count = "1 lint error" if len(result.errors) == 1 else f"{len(result.errors)} lint errors"
        raise RefusedError(
            f"{count} in {file.name}\n  {listing}",
            hint="`carob lint` explains them and masks with --fix; --no-lint releases anyway, and"
            " the release records it",
        )
    return "passed" if result.is_complete else "partial"


def _describe(finding: Finding) -> str:
    case = f"case {finding.case!r}: " if finding.case else ""
    return f"{finding.where or 'the dataset'}: {case}{finding.message} [{finding.rule}]"


def check_synthetic(dataset: Dataset, *, allow: bool) -> int:
    """Refuse synthetic cases that nobody has reviewed, unless they are allowed. Returns their
    number."""
    drafts = [
        case.id
        for case in dataset.cases
        if case.metadata.get(SOURCE) == SYNTHETIC and review_status(case) == "draft"
    ]
    if drafts and not allow:
        raise RefusedError(
            f"synthetic cases that nobody has reviewed ({len(drafts)}): {_list_some(drafts, ', ')}",
            hint="`carob review FILE CASE… --as reviewed --by NAME` reviews them;"
            " --allow-synthetic releases anyway, and the release records it",
        )
    return len(drafts)


def check_date(released_at: str, last: Release) -> None:
    """Refuse a release that is dated before its predecessor."""
    before = last.released_at
    if released_at.endswith(_MIDNIGHT):  # a date without a time
        before = before[:10] + _MIDNIGHT
    if released_at < before:
        raise RefusedError(
            f"the release is dated {released_at}, before release {last.version} of"
            f" {last.released_at}",
            hint="pass a later --date, or correct the clock",
        )


def check_name(dataset: Dataset, registry: Registry) -> None:
    """Refuse the first release of a dataset that is another one under a misspelled name."""
    owners = registry.owners()
    name = nearest_name(dataset.name, owners)
    released = _released_contents(owners[name]) if name else frozenset[CaseContent]()
    equal = sum(_content(case) in released for case in dataset.cases)
    if equal >= _SAME_DATASET * len(dataset.cases):
        raise RefusedError(
            f"no dataset {dataset.name!r} was released yet, but {equal} of its"
            f" {len(dataset.cases)} cases are those of {name!r}",
            hint=f"correct the name to {name!r}, or pass --new-dataset",
        )


def _released_contents(releases: DatasetReleases) -> frozenset[CaseContent]:
    """The cases of the newest release; none if it is damaged, which others report."""
    try:
        return frozenset(
            _content(case)
            for release in releases.releases()[-1:]
            for case in load_release(release).cases
        )
    except CarobError:
        return frozenset()


def _content(case: Case) -> CaseContent:
    return tuple((turn.user, turn.response) for turn in case.turns)


def check_approved(dataset: Dataset, diff: Diff | None) -> None:
    """Refuse cases that are not approved in their current form."""
    drafts = list(list_unapproved(dataset, diff))
    if drafts:
        raise RefusedError(
            f"{len(drafts)} of {len(dataset.cases)} cases are not approved: "
            + _list_some(drafts, ", "),
            hint="`carob review FILE CASE… --as approved --by NAME` approves them",
        )


def _list_some(items: list[str], separator: str) -> str:
    more = [f"and {len(items) - _SHOWN} more"] if len(items) > _SHOWN else []
    return separator.join([*items[:_SHOWN], *more])
