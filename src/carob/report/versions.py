"""Diffs, releases and reviews as text, and diffs as Markdown with the changed words marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

import click
import msgspec

from carob.report.text import columns, count, join_lines, printable, shortened
from carob.schema import Change, Diff, Json, Problem, Release, Review

Mark = Callable[[str], str]
_MAX_WORDS = 1000
"""Longer texts are shown as replaced completely: matching words takes quadratic time."""
# Tags, because `**` and `~~` are not interpreted next to punctuation.
_DELETED, _INSERTED = "<del>{}</del>".format, "<ins>{}</ins>".format
_CONTEXT = 8
"""Number of unchanged words shown before and after a change."""


def diff_document(diff: Diff) -> dict[str, object]:
    """Return the JSON document of `carob diff`."""
    keys = ("case", "field", "kind", "level")
    changes = [{key: getattr(change, key) for key in keys} for change in diff.changes]
    return {"bump": diff.bump, "changes": changes}


def format_diff(diff: Diff, *, color: bool = False) -> str:
    """Return each changed case with its fields; removed and added words are marked."""
    removed: Mark = _in_red if color else "[-{}-]".format
    added: Mark = _in_green if color else "{{+{}+}}".format
    lines = [_verdict(diff)]
    for case, changes in _by_case(diff.changes):
        lines.append(_title(case, changes[0]))
        for change in changes:
            if change.field:
                lines.append(f"    {printable(change.field)} {change.kind}, {change.level}")
                if _has_values(change):
                    lines.append(f"      {mark_words(change.old, change.new, removed, added)}")
    lines.extend(_not_compared(diff))
    return "\n".join(lines) + "\n"


def format_diff_markdown(diff: Diff) -> str:
    """Return the diff for a comment on a pull request."""
    lines = [f"**{_verdict(diff)}**", ""]
    for case, changes in _by_case(diff.changes):
        lines.append(f"- {_escaped(_title(case, changes[0]).strip())}")
        for change in changes:
            if change.field:
                text = f"  - `{printable(change.field)}` {change.kind} ({change.level})"
                words = mark_words(change.old, change.new, _DELETED, _INSERTED, _escaped)
                lines.append(f"{text}: {words}" if _has_values(change) else text)
    lines.extend(_escaped(line) for line in _not_compared(diff))
    return "\n".join(lines).rstrip() + "\n"


def mark_words(old: Json, new: Json, removed: Mark, added: Mark, shown: Mark = printable) -> str:
    """Return the new value with the removed and added words marked."""
    before, after = _tokens(old), _tokens(new)
    if max(len(before), len(after)) > _MAX_WORDS:
        before, after = ["".join(before)], ["".join(after)]
    parts: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for operation, low, high, start, end in matcher.get_opcodes():
        if operation == "equal":
            parts.append(shown(_elide(after[start:end], start == 0, end == len(after))))
            continue
        old_words, new_words = "".join(before[low:high]), "".join(after[start:end])
        parts.append(removed(shown(old_words)) if old_words else "")
        parts.append(added(shown(new_words)) if new_words else "")
    return "".join(parts)


def _tokens(value: Json) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return re.findall(r"\n|[^\S\n]+|\w+|[^\w\s]", text)


def _elide(tokens: list[str], starts: bool, ends: bool) -> str:
    """Return unchanged words, without those that are far from any change."""
    head = [] if starts else tokens[: 2 * _CONTEXT]
    tail = [] if ends else tokens[-2 * _CONTEXT :]
    if len(head) + len(tail) >= len(tokens):
        return "".join(tokens)
    return f"{''.join(head)}…{''.join(tail)}"


def _has_values(change: Change) -> bool:
    return change.old is not None or change.new is not None


def _in_red(text: str) -> str:
    return click.style(text, fg="red", strikethrough=True)


def _in_green(text: str) -> str:
    return click.style(text, fg="green", bold=True)


def _escaped(text: str) -> str:
    """Escape text for Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>()#|~])", r"\\\1", printable(text).replace("\n", " "))


def _verdict(diff: Diff) -> str:
    if diff.bump == "none":
        return f"none: no differences in {count(diff.after, 'case')}"
    whole = Counter(change.kind for change in diff.changes if change.case and not change.field)
    changed = len({change.case for change in diff.changes if change.case and change.field})
    counts = {"added": whole["added"], "changed": changed, "removed": whole["removed"]}
    parts = [f"{count(number, 'case')} {kind}" for kind, number in counts.items() if number]
    return f"{diff.bump}: {', '.join(parts) or 'only dataset fields changed'}"


def _by_case(changes: Iterable[Change]) -> Iterator[tuple[str | None, list[Change]]]:
    groups: dict[str | None, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.case, []).append(change)
    yield from groups.items()


def _title(case: str | None, change: Change) -> str:
    if case is None:
        return "  dataset"
    message = f"  {shortened(change.user, 60)}" if change.user else ""
    kind = "" if change.field else f" {change.kind}, {change.level}"
    return printable(f"  {case}{kind}{message}")


def _not_compared(diff: Diff) -> Iterator[str]:
    if diff.lost:
        names = {re.sub(r"\[\d+\]", "", loss.field) for loss in diff.lost}
        yield ""
        yield printable(f"not compared ({diff.lost[0].reason}): {', '.join(sorted(names))}")


def format_release(release: Release, path: Path) -> str:
    """Say what was released, and where it is."""
    cases = count(release.cases.after, "case")
    if release.previous:
        cases = f"{release.cases.before} → {release.cases.after} cases"
    bump = release.bump or "first release"
    title = f"{release.name} {release.version} ({cases}, {bump})"
    return join_lines([title, f"  {release.digest}", f"  {path}"])


def format_releases(releases: Iterable[Release]) -> str:
    """Return the releases of each dataset, newest last."""
    groups: dict[str, list[Release]] = {}
    for release in releases:
        groups.setdefault(release.name, []).append(release)
    blocks = [_releases(name, group) for name, group in groups.items()]
    return "\n".join(blocks) if blocks else "no releases\n"


def _releases(name: str, group: list[Release]) -> str:
    rows = [["  version", "date", "bump", "cases", "by", "for", "digest"]]
    rows += [
        [
            f"  {release.version}",
            release.released_at[:10],
            release.bump or "first",
            str(release.cases.after),
            shortened(release.released_by, 24),
            shortened(", ".join(release.made_for), 32) or "-",
            release.digest.removeprefix("sha256:")[:12],
        ]
        for release in group
    ]
    return join_lines([name, *columns(rows)])


def format_verification(problems: Iterable[Problem], releases: int) -> str:
    """Return the releases that were edited, replaced or deleted, or say that none was."""
    lines = [f"{problem.where}: {problem.message}" for problem in problems]
    return join_lines(lines or [f"{count(releases, 'release')} verified, none changed"])


def format_reviews(reviews: Iterable[Review]) -> str:
    """Return the review status and lineage of each case; empty columns are left out."""
    rows = [["case", "status", "reviewed by", "on", "source", "ticket", "trace", "file", "added"]]
    rows += [_review(review) for review in reviews]
    filled = [
        index for index in range(len(rows[0])) if index < 2 or any(row[index] for row in rows[1:])
    ]
    cells = [[printable(row[index]) or "-" for index in filled] for row in rows]
    return "\n".join(columns(cells)) + "\n"


def _review(review: Review) -> list[str]:
    lineage = review.lineage
    texts = [
        review.case,
        review.status,
        lineage.reviewed_by,
        review.reviewed_at,
        lineage.source,
        lineage.ticket_id,
        lineage.trace_id,
        lineage.file,
        lineage.date_added,
    ]
    return [shortened(text or "", 32) for text in texts]
