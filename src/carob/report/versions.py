"""Versions as text and as Markdown, with the changed words marked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

import click
import msgspec

from carob.report.text import columns, count, printable, shortened
from carob.schema import Change, Diff, Json, Problem, Release, Review

Mark = Callable[[str], str]
_WORDS = 1000
"""Beyond this many words a text is shown as replaced as a whole."""
# Asterisks and tildes mark nothing where they touch other punctuation.
_DELETED, _INSERTED = "<del>{}</del>".format, "<ins>{}</ins>".format
_KEPT = 8
"""Words shown before and after a change."""


def diff_document(found: Diff) -> dict[str, object]:
    """The diff as others rely on it."""
    keys = ("case", "field", "kind", "level")
    changes = [{key: getattr(change, key) for key in keys} for change in found.changes]
    return {"bump": found.bump, "changes": changes}


def diff(found: Diff, *, colour: bool = False) -> str:
    """Each case with what changed in it; removed and added words are marked."""
    removed: Mark = _in_red if colour else "[-{}-]".format
    added: Mark = _in_green if colour else "{{+{}+}}".format
    lines = [_verdict(found)]
    for case, changes in _by_case(found.changes):
        lines.append(_title(case, changes[0]))
        for change in changes:
            if change.field:
                lines.append(f"    {printable(change.field)} {change.kind}, {change.level}")
                if _has_values(change):
                    lines.append(f"      {marked(change.old, change.new, removed, added)}")
    lines.extend(_lost(found))
    return "\n".join(lines) + "\n"


def diff_markdown(found: Diff) -> str:
    """The same for a pull request."""
    lines = [f"**{_verdict(found)}**", ""]
    for case, changes in _by_case(found.changes):
        lines.append(f"- {_escaped(_title(case, changes[0]).strip())}")
        for change in changes:
            if change.field:
                text = f"  - `{printable(change.field)}` {change.kind} ({change.level})"
                words = marked(change.old, change.new, _DELETED, _INSERTED, _escaped)
                lines.append(f"{text}: {words}" if _has_values(change) else text)
    lines.extend(_escaped(line) for line in _lost(found))
    return "\n".join(lines).rstrip() + "\n"


def marked(old: Json, new: Json, removed: Mark, added: Mark, shown: Mark = printable) -> str:
    """The new value with the words that were removed and added."""
    before, after = _tokens(old), _tokens(new)
    if max(len(before), len(after)) > _WORDS:
        before, after = ["".join(before)], ["".join(after)]
    parts: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for deed, low, high, start, end in matcher.get_opcodes():
        if deed == "equal":
            parts.append(shown(_cut(after[start:end], start == 0, end == len(after))))
            continue
        gone, come = "".join(before[low:high]), "".join(after[start:end])
        parts.append(removed(shown(gone)) if gone else "")
        parts.append(added(shown(come)) if come else "")
    return "".join(parts)


def _tokens(value: Json) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return re.findall(r"\n|[^\S\n]+|\w+|[^\w\s]", text)


def _cut(tokens: list[str], starts: bool, ends: bool) -> str:
    """What stayed, without the middle or the end that is far from any change."""
    head = [] if starts else tokens[: 2 * _KEPT]
    tail = [] if ends else tokens[-2 * _KEPT :]
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
    """Text that stays text in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>()#|~])", r"\\\1", printable(text).replace("\n", " "))


def _verdict(found: Diff) -> str:
    if found.bump == "none":
        return f"none: no differences in {count(found.after, 'case')}"
    whole = Counter(change.kind for change in found.changes if change.case and not change.field)
    changed = len({change.case for change in found.changes if change.case and change.field})
    counts = {"added": whole["added"], "changed": changed, "removed": whole["removed"]}
    parts = [f"{count(number, 'case')} {kind}" for kind, number in counts.items() if number]
    return f"{found.bump}: {', '.join(parts) or 'only the dataset itself changed'}"


def _by_case(changes: Iterable[Change]) -> Iterator[tuple[str | None, list[Change]]]:
    groups: dict[str | None, list[Change]] = {}
    for change in changes:
        groups.setdefault(change.case, []).append(change)
    yield from groups.items()


def _title(case: str | None, change: Change) -> str:
    if case is None:
        return "  the dataset"
    said = f"  {shortened(change.user, 60)}" if change.user else ""
    deed = "" if change.field else f" {change.kind}, {change.level}"
    return printable(f"  {case}{deed}{said}")


def _lost(found: Diff) -> Iterator[str]:
    if found.lost:
        reason = found.lost[0].reason.removesuffix(" it")
        names = {re.sub(r"\[\d+\]", "", loss.field) for loss in found.lost}
        yield ""
        yield printable(f"not compared, {reason} {', '.join(sorted(names))}")


def release(made: Release, path: Path) -> str:
    """What was released, and where it is."""
    cases = (
        f"{made.cases.before} → {made.cases.after} cases"
        if made.previous
        else (count(made.cases.after, "case"))
    )
    bump = f", {made.bump}" if made.bump else ", the first release"
    return (
        printable(f"{made.name} {made.version} ({cases}{bump})\n  {made.digest}\n  {path}") + "\n"
    )


def releases(found: Iterable[Release]) -> str:
    """The releases of each dataset, newest last."""
    groups: dict[str, list[Release]] = {}
    for one in found:
        groups.setdefault(one.name, []).append(one)
    blocks = [_releases(name, group) for name, group in groups.items()]
    return "\n".join(blocks) if blocks else "no releases\n"


def _releases(name: str, group: list[Release]) -> str:
    rows = [["  version", "date", "bump", "cases", "by", "for", "digest"]]
    rows += [
        [
            f"  {one.version}",
            one.released_at[:10],
            one.bump or "first",
            str(one.cases.after),
            shortened(one.released_by, 24),
            shortened(", ".join(one.made_for), 32) or "-",
            one.digest.removeprefix("sha256:")[:12],
        ]
        for one in group
    ]
    return "\n".join(printable(line) for line in [name, *columns(rows)]) + "\n"


def verification(problems: Iterable[Problem], releases: int) -> str:
    """All that was edited, replaced or deleted, or that nothing was."""
    lines = [f"{one.where}: {one.message}" for one in problems]
    if not lines:
        return f"{count(releases, 'release')}, all as they were released\n"
    return "\n".join(printable(line) for line in lines) + "\n"


def reviews(found: Iterable[Review]) -> str:
    """The review and the lineage of each case."""
    rows = [["case", "status", "reviewed by", "on", "source", "ticket", "trace", "file", "added"]]
    rows += [_review(one) for one in found]
    kept = [
        index for index in range(len(rows[0])) if index < 2 or any(row[index] for row in rows[1:])
    ]
    shown = [[printable(row[index]) or "-" for index in kept] for row in rows]
    return "\n".join(columns(shown)) + "\n"


def _review(one: Review) -> list[str]:
    lineage = one.lineage
    texts = [
        one.case,
        one.status,
        lineage.reviewed_by,
        one.reviewed_at,
        lineage.source,
        lineage.ticket_id,
        lineage.trace_id,
        lineage.file,
        lineage.date_added,
    ]
    return [shortened(text or "", 32) for text in texts]
