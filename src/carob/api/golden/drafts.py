"""Drafts: edit the cases of a golden file, see what the edits mean for the version, release them.

The golden file itself is the draft: what differs from the newest release. So an editor, git and a
server all work on the same state, and nothing has to be merged back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from carob.api.datasets import convert
from carob.api.golden.folder import SUFFIXES, GoldenFolder, find_file, list_datasets
from carob.api.golden.in_place import save_in_place
from carob.api.load import (
    check_intact,
    find_release,
    format_name,
    golden_formats,
    load,
    load_release,
)
from carob.api.release import release
from carob.api.running.selection import make_selection
from carob.api.versions import diff_datasets, load_reference, mark_reviewed
from carob.datasets.read import get_format
from carob.datasets.where import compile_where
from carob.errors import NotFoundError, RefusedError, StaleError, UsageError
from carob.files.lock import lock_folder
from carob.runner.case_index import CaseIndex, begins_with
from carob.schema import Bump, Case, Dataset, Diff, Release, ReviewStatus
from carob.schema.digest import case_digest, dataset_digest, expectation_digest
from carob.schema.draft import Draft, DraftCase, DraftCasePage
from carob.text.spelling import did_you_mean
from carob.versions.numbers import bump_version, first_version, parse_version
from carob.versions.publish import registry_lock
from carob.versions.registry import Registry
from carob.versions.review import review_status


class DraftFile(NamedTuple):
    """A golden file to download."""

    name: str
    content: bytes


_MAX_SEARCHED = 5_000
"""Cases of a dataset that is searched for the same message while a page waits."""
NEW = "new"
"""The digest to state for a case that must not exist yet."""


def load_draft(folder: GoldenFolder, name: str) -> Dataset:
    """Load a golden file of the folder; with a version, as in `support@1.2.0`, load the release."""
    if "@" in name:
        stored = find_release(name, folder.registry)
        if stored:
            return load_release(stored)
    return load(find_file(folder, name))


def get_draft(folder: GoldenFolder, name: str) -> Draft:
    """Return the state of a dataset: its changes since the newest release, and the version that
    they require."""
    file = find_file(folder, name)
    dataset = load(file)
    stored = Registry(folder.registry).releases_of(dataset.name).releases()
    last = stored[-1] if stored else None
    diff = diff_datasets(load_release(last), dataset) if last else None
    if last is None:
        following = first_version(dataset.version, version=None)
    elif diff is None or diff.bump == "none":
        following = None
    else:
        following = str(bump_version(parse_version(last.record.version), diff.bump))
    return Draft(
        name=dataset.name,
        file=file.name,
        format=format_name(dataset) or "",
        cases=len(dataset.cases),
        description=dataset.description,
        digest=dataset_digest(dataset),
        version=last.record.version if last else None,
        next_version=following,
        diff=diff,
    )


def list_cases(
    folder: GoldenFolder,
    name: str,
    *,
    tags: Sequence[str] = (),
    where: str | None = None,
    review: ReviewStatus | None = None,
    text: str | None = None,
    limit: int = 100,
    after: str | None = None,
) -> DraftCasePage:
    """List cases in the order of the file. `after` is the id of the last case of the page before;
    `text` is a part of what the user says or the agent answers."""
    make_selection(tags, where)  # an invalid expression is reported before anything is read
    dataset = load_draft(folder, name)
    matches = _case_filter(tags, where, review, text)
    cases = [case for case in dataset.cases if matches(case)]
    start = _after(cases, dataset, after) if after is not None else 0
    shown = cases[start : start + limit]
    more = shown[-1].id if start + limit < len(cases) else None
    return DraftCasePage(tuple(map(_draft_case, shown)), more, len(cases))


def get_case(folder: GoldenFolder, name: str, case: str) -> DraftCase:
    """Return a case with its digest."""
    return _draft_case(_find_case(load_draft(folder, name), case))


def find_same_start(folder: GoldenFolder, case: Case) -> tuple[tuple[str, str], ...]:
    """Return the cases that a session is paired with that begins as a new case does, each after its
    dataset. With the new one beside them, sessions that name no case are paired with neither."""
    first = case.turns[0].user if case.turns else None
    if first is None:
        return ()
    same: list[tuple[str, str]] = []
    for entry in list_datasets(folder):
        if entry.file is None or (entry.cases or 0) > _MAX_SEARCHED:
            continue
        index = CaseIndex(load_draft(folder, entry.name).cases)
        places = index.find_message(first, len(case.turns))
        known = (index.cases[place] for place in places)
        same += [(entry.name, other.id) for other in known if begins_with(other, first)]
    return tuple(same)


def put_case(folder: GoldenFolder, name: str, case: Case, *, revision: str | None) -> DraftCase:
    """Add or replace a case. `revision` is the digest of the case that the caller has seen, or
    `NEW`; raises `StaleError` if the case has changed since. `None` overwrites."""

    def edit(dataset: Dataset) -> Dataset:
        before = next((known for known in dataset.cases if known.id == case.id), None)
        _check_revision(case.id, before, revision)
        if before is None:
            return dataset.add(msgspec.structs.replace(case, origin=None))
        # The document that the case was read from holds the fields that the model has not.
        return _replace_case(dataset, msgspec.structs.replace(case, origin=before.origin))

    return _draft_case(_find_case(_edit(folder, name, edit), case.id))


def add_new_cases(folder: GoldenFolder, name: str, cases: Sequence[Case]) -> None:
    """Add cases, all of them or none. Raises `StaleError` if one of them exists already."""

    def edit(dataset: Dataset) -> Dataset:
        known = {case.id: case for case in dataset.cases}
        for case in cases:
            _check_revision(case.id, known.get(case.id), NEW)
        return dataset.add(*(msgspec.structs.replace(case, origin=None) for case in cases))

    _edit(folder, name, edit)


def delete_case(folder: GoldenFolder, name: str, case: str, *, revision: str | None) -> None:
    """Remove a case. `revision` is as for `put_case`."""

    def edit(dataset: Dataset) -> Dataset:
        _check_revision(case, _find_case(dataset, case), revision)
        return dataset.subset(lambda known: known.id != case)

    _edit(folder, name, edit)


def review_case(
    folder: GoldenFolder,
    name: str,
    case: str,
    status: ReviewStatus,
    *,
    by: str,
    revision: str | None = None,
) -> DraftCase:
    """Set the review status of a case, as `carob review` does. `revision` is as for `put_case`."""
    with registry_lock(folder.registry):
        file = find_file(folder, name)
        known = _find_case(load(file), case)  # by its id alone; `carob review` takes more than that
        _check_revision(case, known, revision)
        mark_reviewed(file, [case], status, by=by)
        return _draft_case(_find_case(load(file), case))


def approve_scored_case(
    folder: GoldenFolder, name: str, case: str, *, scored: str | None, by: str
) -> DraftCase:
    """Approve a case whose answer somebody has reviewed in a run. `scored` is the digest of what
    the run expected; raises `StaleError` if the case expects something else by now."""
    current = _find_case(load_draft(folder, name), case)
    if scored not in (None, expectation_digest(current)):
        hint = "score it again, then approve it"
        raise StaleError(f"case {case!r} has changed since the run", hint=hint)
    return review_case(folder, name, case, "approved", by=by, revision=case_digest(current))


def review_cases(
    folder: GoldenFolder,
    name: str,
    cases: Sequence[str],
    status: ReviewStatus,
    *,
    by: str,
    revision: str | None = None,
) -> None:
    """Set the review status of several cases at once. `revision` is the digest of the draft that
    the caller has seen."""
    with registry_lock(folder.registry):
        file = find_file(folder, name)
        dataset = load(file)
        _check_draft_revision(name, dataset, revision)
        for case in cases:
            _find_case(dataset, case)
        mark_reviewed(file, cases, status, by=by)


def diff_versions(folder: GoldenFolder, name: str, old: str, new: str | None = None) -> Diff:
    """Return the changes of a dataset from a release to another one, or to its draft."""
    before = load_reference(f"{name}@{old}", folder.registry)
    after = load_reference(f"{name}@{new}", folder.registry) if new else load_draft(folder, name)
    return diff_datasets(before, after)


def dataset_bytes(
    folder: GoldenFolder, name: str, *, version: str | None = None, format: str | None = None
) -> DraftFile:
    """Return the golden file of a dataset or of a release of it, byte for byte, or converted."""
    if version is None:
        file, stated = find_file(folder, name), None
    else:
        stored = check_intact(Registry(folder.registry).find(f"{name}@{version}"))
        file, stated = stored.file, stored.record.format
    if format is None:
        return DraftFile(file.name, file.read_bytes())
    with TemporaryDirectory(prefix="carob-") as scratch:
        containers = get_format(format, golden_formats()).containers
        target = Path(scratch) / f"{file.name.partition('.')[0]}{SUFFIXES[containers[0]]}"
        convert(file, target, to=format, from_=stated)
        return DraftFile(target.name, target.read_bytes())


def release_draft(
    folder: GoldenFolder,
    name: str,
    *,
    by: str | None = None,
    bump: Bump | None = None,
    version: str | None = None,
    because: str | None = None,
    note: Sequence[str] = (),
    require_approved: bool = False,
    revision: str | None = None,
) -> Release:
    """Release the draft as an immutable version. `revision` is the digest of the draft that the
    caller has seen."""
    file = find_file(folder, name)
    if revision is not None:
        _check_draft_revision(name, load(file), revision)
    return release(
        file,
        by=by,
        bump=bump,
        version=version,
        because=because,
        note=note,
        require_approved=require_approved,
        registry=folder.registry,
    )


def _edit(folder: GoldenFolder, name: str, edit: Callable[[Dataset], Dataset]) -> Dataset:
    """Edit a golden file, one editor at a time, and return what the file then says."""
    with registry_lock(folder.registry), lock_folder(folder.path):
        file = find_file(folder, name)
        dataset = load(file)
        edited = edit(dataset)
        if edited.cases != dataset.cases:
            _save(edited, file)
        return load(file)


def _save(dataset: Dataset, file: Path) -> None:
    if not dataset.cases:
        hint = "delete the dataset instead"
        raise RefusedError("a dataset needs at least one case", where=file.name, hint=hint)
    save_in_place(dataset, file)


def _check_revision(case: str, before: Case | None, revision: str | None) -> None:
    current = case_digest(before) if before else NEW
    if revision is None or revision == current:
        return
    state = "has changed" if before else "does not exist any more"
    if revision == NEW:
        state = "exists already"
    raise StaleError(f"case {case!r} {state}", hint="read it again, then repeat the edit")


def _check_draft_revision(name: str, dataset: Dataset, revision: str | None) -> None:
    if revision not in (None, dataset_digest(dataset)):
        raise StaleError(f"dataset {name!r} has changed", hint="read the draft again")


def _replace_case(dataset: Dataset, case: Case) -> Dataset:
    return dataset.with_cases(case if known.id == case.id else known for known in dataset.cases)


def _draft_case(case: Case) -> DraftCase:
    bare = msgspec.structs.replace(case, origin=None)
    return DraftCase(bare, case_digest(case), review_status(case))


def _find_case(dataset: Dataset, id: str) -> Case:
    case = next((case for case in dataset.cases if case.id == id), None)
    if case is None:
        hint = did_you_mean(id, [case.id for case in dataset.cases])
        raise NotFoundError(f"{dataset.name} has no case {id!r}", hint=hint)
    return case


def _case_filter(
    tags: Sequence[str], where: str | None, review: ReviewStatus | None, text: str | None
) -> Callable[[Case], bool]:
    matches = compile_where(where) if where is not None else None
    folded = frozenset(map(str.casefold, tags))
    part = text.casefold() if text else None

    def keep(case: Case) -> bool:
        return (
            folded <= {*map(str.casefold, case.tags)}
            and (matches is None or matches(case))
            and (review is None or review_status(case) == review)
            and (part is None or _mentions(case, part))
        )

    return keep


def _mentions(case: Case, part: str) -> bool:
    texts = (case.id, *(text for turn in case.turns for text in (turn.user, turn.response)))
    return any(part in text.casefold() for text in texts if text)


def _after(cases: Sequence[Case], dataset: Dataset, after: str) -> int:
    """Return the position after a case, also after one that does not meet the conditions."""
    order = {case.id: index for index, case in enumerate(dataset.cases)}
    if after not in order:
        hint = "use the `next` value of the previous page"
        raise UsageError(f"invalid page start {after!r}", hint=hint)
    return sum(order[case.id] <= order[after] for case in cases)
