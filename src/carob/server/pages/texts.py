"""Texts and values on a page: what differs is marked, what is long is folded, what is very long is
cut with a link to all of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from carob.report.html.parts import mark
from carob.report.markup import Child, Markup, join, tag
from carob.report.text_diff import compare_words
from carob.schema import Json

RAW = "?tab=raw"
"""Where pages with tabs have all of a text."""
MAX_TEXT = 20_000
"""Longer texts are cut where another page has all of them."""
MAX_VALUE = 300
"""Characters of a value that are shown before the rest is folded."""
_MAX_VALUE = 4_000
"""Characters of a value that are there: a case may have hundreds of calls."""
_MAX_PROSE = 1_500
"""Characters of a message that are shown before the rest is folded."""
_MAX_SAME = 600
"""Characters in a row that do not differ; longer stretches are folded in the middle."""
_AROUND = 120
"""Characters that stay at both ends of such a stretch."""


def diff_words(
    expected: str, actual: str, longest: int = _MAX_PROSE, *, raw: str | None = None
) -> tuple[Markup, Markup]:
    """Return both texts with the words marked that differ. Long stretches that do not differ, and
    what follows after `longest` characters, are folded. Very long texts are cut; `raw` is the
    address of all of them."""
    pieces = compare_words(expected[:MAX_TEXT], actual[:MAX_TEXT])
    before = [(p.expected, None if p.same else "del") for p in pieces if p.expected]
    after = [(p.actual, None if p.same else "ins") for p in pieces if p.actual]
    return (
        join([_fold_pieces(before, longest), _left_out(expected, raw)]),
        join([_fold_pieces(after, longest), _left_out(actual, raw)]),
    )


def _fold_pieces(pieces: Sequence[tuple[str, str | None]], longest: int) -> Markup:
    """Return the pieces of a text with their marks. What is folded does not count as shown."""
    shown: list[Child] = []
    left = longest
    for number, (text, kind) in enumerate(pieces):
        if left <= 0:
            rest = [mark(kind, text) if kind else text for text, kind in pieces[number:]]
            length = sum(len(text) for text, _ in pieces[number:])
            return join([shown, _fold(rest, f"{length:,} more characters")])
        if kind is None and len(text) > min(_MAX_SAME, longest):
            middle = text[_AROUND:-_AROUND]
            fold = _fold(middle, f"{len(middle):,} characters are the same")
            shown += [text[:_AROUND], fold, text[-_AROUND:]]
            left -= 2 * _AROUND
        else:
            shown.append(_marked(kind, text, longest) if kind else text)
            left -= len(text)
    return join(shown)


def _marked(kind: str, text: str, longest: int) -> Markup:
    return mark(kind, text) if len(text) <= longest else tag(kind, fold_text(text, longest))


def fold_text(text: str, longest: int = _MAX_PROSE) -> Markup:
    """Return a text of which everything after so many characters is folded."""
    left = len(text) - longest
    if left <= longest // 4:  # to open a fold for a few words is more work than to read them
        return join(text)
    return join([text[:longest], _fold(text[longest:], f"{left:,} more characters")])


def _fold(content: Child, title: str) -> Markup:
    return tag("details", tag("summary", f"… {title}"), content, class_="more")


def private_text(text: str) -> Markup:
    """Return a text with personal data and secrets marked."""
    # Late: what it looks for is large, and a server may never capture a session.
    from carob.text.sensitive import find_sensitive, installed_kinds

    pieces: list[Child] = []
    end = 0
    for match in find_sensitive(text, installed_kinds()):
        found = tag("mark", match.text, title=match.kind)
        pieces += [text[end : match.start], found]
        end = match.end
    return join([pieces, long_text(text[end:])]) if pieces else long_text(text)


def long_value(text: str, *, raw: str | None = None) -> Markup:
    """Return a value, such as an argument of a call, of which the rest is folded if it is long. Of
    a very long one only the start is there; `raw` is the address of all of it."""
    return join([fold_text(text[:_MAX_VALUE], MAX_VALUE), _left_out(text, raw, _MAX_VALUE)])


def short_value(text: str) -> str:
    """Return the start of a value that the page shows elsewhere."""
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}… of {len(text):,} characters"


def long_text(text: str, *, raw: str | None = None) -> Markup:
    """Return a text of which the rest is folded if it is long. With `raw`, the address of all of
    it, a very long one is cut."""
    if raw is None:
        return fold_text(text)
    return join([fold_text(text[:MAX_TEXT]), _left_out(text, raw)])


def _left_out(text: str, raw: str | None, shown: int = MAX_TEXT) -> Markup | None:
    left = len(text) - shown
    if left <= 0:
        return None
    link = (
        tag("a", f"all {len(text):,} characters", href=raw) if raw else f"{left:,} more characters"
    )
    return tag("em", " … ", link, class_="quiet")


def value_text(value: Json) -> str:
    """Return a JSON value on one line."""
    return msgspec.json.encode(value).decode()


def json_text(value: object) -> Markup:
    """Return a value as indented JSON, all of it."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return tag("pre", tag("code", text), tabindex="0", class_="json")


def inline_code(text: str) -> Markup:
    """Return a text in which `…` becomes code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a single mark is no code
        return join(text)
    return join([tag("code", part) if place % 2 else part for place, part in enumerate(parts)])
