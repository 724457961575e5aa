"""Write the changelog of a dataset, newest release first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import shorten

from carob.schema import Case, Change, Dataset, Diff, content_id

_SHOWN = 5
_TAGS = 8
_PHRASES = {
    "user": "what the user says",
    "response": "the expected answer",
    "tool_calls": "the expected tool calls",
    "tool_results": "the expected tool results",
    "trajectory": "the expected trajectory",
    "state": "the expected state",
    "agents": "the expected agents",
    "contains": "what the answer must contain",
    "contract": "the contract",
    "metrics": "the metrics",
    "profile": "the scoring profile",
    "created_at": "the date",
    "updated_at": "the date",
    "id": "the id",
    "name": "the name",
    "description": "the description",
    "order": "the order of the examples",
}


def format_entry(version: str, date: str, bullets: Iterable[str]) -> str:
    """The changelog entry of a release."""
    lines = "".join(f"- {_single_line(bullet)}\n" for bullet in bullets)
    return f"## v{version} ({date})\n{lines}"


def prepend_entry(name: str, entry: str, before: str | None) -> str:
    """The changelog with one more entry on top."""
    _, _, older = (before or "").partition("\n\n")
    return f"# {_single_line(name)} Changelog\n\n{entry}" + (f"\n{older}" if older else "")


def initial_bullets(dataset: Dataset) -> list[str]:
    """The entry of a first release, as bullets."""
    covering = _describe_tags(dataset.cases)
    return ["Initial release", f"{_count_examples(len(dataset.cases))}{covering}"]


def change_bullets(diff: Diff, new: Dataset) -> list[str]:
    """The changes since the previous release, as bullets."""
    bullets = [*_describe_case_changes(diff, new), *_describe_field_changes(diff.changes)]
    return [*(bullets or ["No changes"]), f"Examples: {diff.before} → {diff.after}"]


def _describe_case_changes(diff: Diff, new: Dataset) -> Iterator[str]:
    added = [change for change in diff.changes if change.kind == "added" and not change.field]
    removed = [change for change in diff.changes if change.kind == "removed" and not change.field]
    if added:
        ids = {change.case for change in added}
        covering = _describe_tags([case for case in new.cases if case.id in ids])
        yield f"Added {_count_examples(len(added))}{covering} ({_names(added)})"
    if removed:
        yield f"Removed {_count_examples(len(removed))} ({_names(removed)})"


def _describe_field_changes(changes: Sequence[Change]) -> Iterator[str]:
    groups: dict[str, list[Change]] = {}
    for change in changes:
        if change.field:
            for description in _describe_field_change(change, change.field):
                groups.setdefault(description, []).append(change)
    for description, group in groups.items():
        cases = list({change.case: change for change in group if change.case}.values())
        where = f" in {_count_examples(len(cases))} ({_names(cases)})" if cases else ""
        yield f"{description}{where}"


def _describe_field_change(change: Change, field: str) -> Iterator[str]:
    if field == "tags" and isinstance(change.old, list) and isinstance(change.new, list):
        yield from (f'Added the tag "{tag}"' for tag in change.new if tag not in change.old)
        yield from (f'Removed the tag "{tag}"' for tag in change.old if tag not in change.new)
        return
    if field.startswith("metadata.review"):
        yield "Changed the review"
        return
    head, *rest = field.split(".")
    name = rest[0] if head.startswith("turns[") and rest else head
    phrase = _PHRASES.get(name, "a turn" if name.startswith("turns[") else name.replace("_", " "))
    if change.level == "patch" and name in ("user", "response"):
        yield f"Corrected the wording of {phrase}"
    else:
        yield f"{change.kind.capitalize()} {phrase}"


def _describe_tags(cases: Sequence[Case]) -> str:
    counts = Counter(tag for case in cases for tag in case.tags)
    tags = [tag for tag, _ in counts.most_common(_TAGS)]
    return f" covering: {', '.join(tags)}" if tags else ""


def _count_examples(number: int) -> str:
    return f"{number} example{'' if number == 1 else 's'}"


def _names(changes: Sequence[Change]) -> str:
    names = [_name(change) for change in changes[:_SHOWN]]
    more = [f"and {len(changes) - _SHOWN} more"] if len(changes) > _SHOWN else []
    return ", ".join(names + more)


def _name(change: Change) -> str:
    """The id, or the question if the id is derived from it."""
    derived = content_id(change.user or "")
    if change.user and change.case and change.case.startswith(derived):
        return f'"{shorten(change.user, 60, placeholder=" …")}"'
    return change.case or ""


def _single_line(text: str) -> str:
    """Collapse line breaks and control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
