"""Diffs, releases and reviews as text, and diffs as Markdown with the changed words marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET

from carob.errors import install_hint
from carob.report.layout import (
    PLAIN,
    Block,
    Display,
    Painted,
    Part,
    TextTable,
    join_lines,
    line,
    status,
)
from carob.report.text import count, printable, shortened
from carob.report.width import cut_words
from carob.schema import Change, Diff, Json, Problem, Release, Review

_MAX_WORDS = 1000
"""Longer texts are shown as replaced completely: matching words takes quadratic time."""
_CONTEXT = 8
"""Number of unchanged words shown before and after a change."""


class WordChange(NamedTuple):
    """Words of two texts: words of both, or of only one."""

    kind: Literal["same", "removed", "added"]
    text: str


def diff_document(diff: Diff) -> dict[str, object]:
    """Return the JSON document of `carob diff`."""
    keys = ("case", "field", "kind", "level")
    changes = [{key: getattr(change, key) for key in keys} for change in diff.changes]
    return {"bump": diff.bump, "changes": changes}


def format_diff(diff: Diff, display: Display = PLAIN) -> str:
    """Return each changed case with its fields; removed and added words are marked."""
    bump, _, counts = _verdict(diff).partition(": ")
    lines: list[Block] = [line(status(bump), f": {counts}")]
    for case, changes in _by_case(diff.changes):
        lines.append(_title(case, changes[0]))
        for change in changes:
            if change.field:
                text = f"    {printable(change.field)} {change.kind}, "
                lines.append(line(text, status(change.level)))
                if _has_values(change):
                    words = word_changes(change.old, change.new)
                    lines.append(line("      ", *(_mark(word, display) for word in words)))
    lines.extend(_not_compared(diff))
    return join_lines(lines, display)


def _mark(word: WordChange, display: Display) -> Part:
    """Mark removed and added words by color, or by the signs of `git diff --word-diff`."""
    if word.kind == "same":
        return word.text
    if display.color:
        return Painted(word.text, word.kind)
    return f"[-{word.text}-]" if word.kind == "removed" else f"{{+{word.text}+}}"


def format_diff_markdown(diff: Diff) -> str:
    """Return the diff for a comment on a pull request."""
    lines = [f"**{_verdict(diff)}**", ""]
    for case, changes in _by_case(diff.changes):
        lines.append(f"- {_escape_markdown(_title(case, changes[0]).strip())}")
        for change in changes:
            if change.field:
                text = f"  - `{printable(change.field)}` {change.kind} ({change.level})"
                words = "".join(map(_mark_in_markdown, word_changes(change.old, change.new)))
                lines.append(f"{text}: {words}" if _has_values(change) else text)
    lines.extend(_escape_markdown(line) for line in _not_compared(diff))
    return "\n".join(lines).rstrip() + "\n"


def _mark_in_markdown(word: WordChange) -> str:
    # Tags, because `**` and `~~` are not interpreted next to punctuation.
    name = {"removed": "del", "added": "ins"}.get(word.kind)
    return (
        f"<{name}>{_escape_markdown(word.text)}</{name}>" if name else _escape_markdown(word.text)
    )


def word_changes(old: Json, new: Json) -> Iterator[WordChange]:
    """Yield the words of the new value, and between them those that were removed."""
    before, after = _tokens(old), _tokens(new)
    if max(len(before), len(after)) > _MAX_WORDS:
        before, after = ["".join(before)], ["".join(after)]
    from difflib import SequenceMatcher  # late: only diffs need it

    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for operation, low, high, start, end in matcher.get_opcodes():
        if operation == "equal":
            text = _elide(after[start:end], start == 0, end == len(after))
            yield WordChange("same", text)
            continue
        if removed := "".join(before[low:high]):
            yield WordChange("removed", removed)
        if added := "".join(after[start:end]):
            yield WordChange("added", added)


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


def _escape_markdown(text: str) -> str:
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
    cases = [loss for loss in diff.lost if loss.field == "$"]
    fields = [loss for loss in diff.lost if loss.field != "$"]
    if diff.lost:
        yield ""
    if fields:
        names = {re.sub(r"\[\d+\]", "", loss.field) for loss in fields}
        yield printable(f"not compared ({fields[0].reason}): {', '.join(sorted(names))}")
    for loss in cases:
        reason = loss.reason.removeprefix("left out, ")
        yield printable(f"case {loss.case} not compared: {reason}")


def format_release(release: Release, path: Path, display: Display = PLAIN) -> str:
    """Say what was released, and where it is."""
    cases = count(release.cases.after, "case")
    if release.previous:
        cases = f"{release.cases.before:,} → {release.cases.after:,} cases"
    bump = release.bump or "first release"
    title = f"{release.name} {release.version} ({cases}, {bump})"
    remarks = [f"  {remark}" for remark in _remarks(release)]
    return join_lines([title, f"  {release.digest}", f"  {path}", *remarks], display)


def _remarks(release: Release) -> Iterator[str]:
    if release.because is not UNSET:
        yield printable(f"{release.bump} changes: {release.because}")
    if release.lint == "skipped":
        yield "not linted"
    if release.lint == "partial":
        yield f"not all lint rules were checked: {install_hint('pii')}"


def format_releases(releases: Iterable[Release], display: Display = PLAIN) -> str:
    """Return the releases of each dataset, newest last."""
    groups: dict[str, list[Release]] = {}
    for release in releases:
        groups.setdefault(release.name, []).append(release)
    blocks = [join_lines(_releases(name, group), display) for name, group in groups.items()]
    return "\n".join(blocks) if blocks else "no releases\n"


def _releases(name: str, group: list[Release]) -> list[Block]:
    rows = [["version", "date", "bump", "cases", "by", "for", "digest"]]
    rows += [
        [
            release.version,
            release.released_at[:10],
            _bump(release),
            f"{release.cases.after:,}",
            shortened(release.released_by, 24),
            shortened(", ".join(release.made_for), 32) or "-",
            release.digest.removeprefix("sha256:")[:12],
        ]
        for release in group
    ]
    return [Painted(name, "strong"), TextTable(rows, left=(0, 1, 2, 4, 5, 6), indent=2)]


def _bump(release: Release) -> str:
    """Return the bump that the changes required, and the version if a lower one was released."""
    if release.bump is None or release.previous is None:
        return "first"
    if not release.because:
        return release.bump
    before, after = release.previous.version.split("."), release.version.split(".")
    released = "minor" if before[:2] != after[:2] else "patch"
    return f"{released}, not {release.bump}"


def format_verification(
    problems: Iterable[Problem], releases: Sequence[Release], display: Display = PLAIN
) -> str:
    """Return the releases that were edited, replaced or deleted, or say that none was and list the
    head of each dataset."""
    lines = [f"{problem.where}: {problem.message}" for problem in problems]
    if lines:
        return join_lines(lines, display)
    newest = {release.name: release for release in releases}
    heads = [
        f"head of {name} {release.version}: {release.seal}" for name, release in newest.items()
    ]
    verified = f"{count(len(releases), 'release')} verified, none changed"
    return join_lines([verified, *heads], display)


_MESSAGE = 3
"""The column of the user message in reviews."""
_MESSAGE_WIDTH = 60


def format_reviews(reviews: Iterable[Review], display: Display = PLAIN) -> str:
    """Return the review status and lineage of each case; empty columns are left out."""
    lineage = ["source", "ticket", "trace", "file", "added"]
    rows = [["#", "case", "status", "user message", "reviewed by", "on", "earlier", *lineage]]
    rows += [_review(review) for review in reviews]
    filled = [
        index for index in range(len(rows[0])) if index < 3 or any(row[index] for row in rows[1:])
    ]
    cells = [[status(row[index] or "-") for index in filled] for row in rows]
    message = {filled.index(_MESSAGE)} if _MESSAGE in filled else ()
    table = TextTable(cells, left=range(1, len(filled)), cut=message)
    return join_lines([table], display)


def _review(review: Review) -> list[str]:
    lineage = review.lineage
    texts = [
        str(review.position),
        review.case,
        review.status,
        lineage.reviewed_by,
        (review.reviewed_at or "")[:10],
        ", ".join(dict.fromkeys(past.by for past in review.history if past.by)),
        lineage.source,
        lineage.ticket_id,
        lineage.trace_id,
        lineage.file,
        lineage.date_added,
    ]
    cells = [shortened(text or "", 32) for text in texts]
    cells.insert(_MESSAGE, cut_words(" ".join((review.user or "").split()), _MESSAGE_WIDTH))
    return cells
