"""The frame of every page: head, navigation, main content, keys."""

from __future__ import annotations

from collections.abc import Sequence

from carob.report.markup import Child, Markup, join, tag

NAVIGATION = (
    ("Home", "/", "h"),
    ("Runs", "/runs", "r"),
    ("Datasets", "/datasets", "d"),
    ("Live", "/live", "l"),
    ("Metrics", "/metrics", "m"),
    ("Upload", "/upload", "u"),
    ("Settings", "/settings", "s"),
)
_KEYS = (
    ("/", "search"),
    ("?", "keys"),
    ("y", "copy link"),
    ("Y", "copy command"),
)


def document(
    *,
    title: str,
    content: Markup,
    section: str,
    crumbs: Sequence[tuple[str, str]],
    command: str | None,
    keys: Sequence[tuple[str, str]],
) -> str:
    """Return the HTML document of a page."""
    body = tag(
        "body",
        tag("a", "Skip to content", href="#main", class_="skip"),
        _header(section),
        tag("main", _crumbs(crumbs), content, id="main", tabindex="-1"),
        _footer((*keys, *_KEYS)),
        data_command=command,
    )
    return f"<!doctype html>\n{tag('html', _head(title), body, lang='en')}\n"


def _head(title: str) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title} – Carob"),
        tag("link", rel="icon", href="data:,"),
        tag("link", rel="stylesheet", href="/static/design.css"),
        tag("link", rel="stylesheet", href="/static/pages.css"),
        tag("script", type="module", src="/static/pages.js"),
    )


def _header(section: str) -> Markup:
    links = [
        tag(
            "li",
            tag(
                "a",
                name,
                href=address,
                data_key=key,
                aria_current="page" if name == section else None,
            ),
        )
        for name, address, key in NAVIGATION
    ]
    return tag(
        "header",
        tag("a", "CAROB", href="/", class_="brand", aria_label="Carob, home"),
        tag("nav", tag("ul", links), aria_label="Pages"),
    )


def _crumbs(crumbs: Sequence[tuple[str, str]]) -> Markup | None:
    if not crumbs:
        return None
    items = [
        tag("li", tag("a", name, href=address) if address else tag("span", name))
        for name, address in crumbs
    ]
    return tag("nav", tag("ol", items), aria_label="Breadcrumbs", class_="crumbs")


def _footer(keys: Sequence[tuple[str, str]]) -> Markup:
    shown: list[Child] = [
        tag("span", tag("kbd", key), " ", what, class_="key") for key, what in keys
    ]
    switch = tag("button", "switch single keys off", type="button", id="keys-switch", hidden=True)
    return tag(
        "footer",
        tag("p", join(shown), " ", switch, id="keys"),
        tag("p", role="status", id="said", class_="unseen"),
    )
