"""What the page of a released version says about the release."""

from __future__ import annotations

from carob.report.markup import Markup, tag
from carob.report.text import count
from carob.schema import Release
from carob.server.pages.parts import address, link_button, minute


def release_state(release: Release) -> str:
    """Say when and by whom a version was released, and what changed since the one before."""
    counts = release.cases
    changes = [
        f"{number:,} {word}"
        for number, word in (
            (counts.added, "added"),
            (counts.changed, "changed"),
            (counts.removed, "removed"),
        )
        if number and release.previous
    ]
    since = f": {', '.join(changes)} since {release.previous.version}" if release.previous else ""
    return f"Released {minute(release.released_at)} UTC by {release.released_by}{since}."


def release_actions(release: Release) -> list[Markup | None]:
    """Return the links to what changed and to the draft."""
    previous = release.previous
    changes = previous and address(
        "datasets", release.name, "diff", from_=previous.version, to=release.version
    )
    return [
        link_button("See what changed", changes) if changes else None,
        link_button("Go to the draft", address("datasets", release.name)),
    ]


def release_facts(release: Release) -> Markup:
    """Return what identifies a release."""
    facts = [
        f"format {release.format}",
        count(release.cases.after, "case"),
        f"digest {release.digest[:19]}…",
        f"commit {release.commit[:12]}" if release.commit else None,
        f"for {', '.join(release.made_for)}" if release.made_for else None,
        "cannot change any more",
    ]
    return tag("p", " · ".join(filter(None, facts)), class_="quiet", dir="auto")
