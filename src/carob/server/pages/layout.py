"""The frame of every page: head, navigation, main content, keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from carob.report.markup import Child, Markup, join, tag

NAVIGATION = (
    ("Home", "/", "h"),
    ("Runs", "/runs", "r"),
    ("Datasets", "/datasets", "d"),
    ("Review", "/review", "v"),
    ("Live", "/live", "l"),
    ("Metrics", "/metrics", "m"),
    ("Upload", "/upload", "u"),
    ("Settings", "/settings", "s"),
)
KEYS = (
    ("/", "search"),
    ("?", "all keys"),
    ("j k", "next, previous row"),
    ("enter", "open the row"),
    ("x", "select the row"),
    ("f", "failed only"),
    ("[ ]", "previous, next case"),
    ("t", "next tab"),
    ("z", "fold or unfold all"),
    ("a", "accept as golden"),
    ("e", "edit the golden case"),
    ("c", "compare"),
    ("g", "make golden"),
    ("r", "capture as regression cases"),
    ("v", "evaluate, or run again"),
    ("d", "discard"),
    ("1 2 3", "review: correct, wrong, unsure"),
    ("u", "review: undo"),
    ("n", "review: note"),
    ("s", "review: next that waits"),
    ("← →", "review: previous, next item"),
    ("y", "copy the link"),
    ("Y", "copy the carob command"),
    ("esc", "leave a field or go up"),
    *((f"g {key}", name) for name, _, key in NAVIGATION),
)
Theme = str | None


def document(
    *,
    title: str,
    content: Markup,
    section: str,
    crumbs: Sequence[tuple[str, str]],
    command: str | None,
    keys: Sequence[tuple[str, str]],
    counts: Mapping[str, int],
    theme: Theme,
    read_only: bool = False,
    logged_in: bool = False,
) -> str:
    """Return the HTML document of a page."""
    copy_command = [("Y", "copy command")] if command else []
    body = tag(
        "body",
        tag("a", "Skip to content", href="#main", class_="skip"),
        _header(section, counts, read_only=read_only, logged_in=logged_in),
        tag("main", _crumbs(crumbs), content, id="main", tabindex="-1"),
        _footer([*keys, ("y", "copy link"), *copy_command, ("?", "all keys")]),
        _dialog(),
        data_command=command,
        data_read_only="1" if read_only else None,
    )
    html = tag("html", _head(title), body, lang="en", data_theme=theme)
    return f"<!doctype html>\n{html}\n"


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


def _header(section: str, counts: Mapping[str, int], *, read_only: bool, logged_in: bool) -> Markup:
    links = [
        tag(
            "li",
            tag(
                "a",
                name,
                _count(name, counts.get(name, 0)),
                href=address,
                aria_current="page" if name == section else None,
            ),
        )
        for name, address, _ in NAVIGATION
    ]
    theme = tag("button", "◐", type="button", id="theme", aria_label="Light or dark", hidden=True)
    note = tag("span", "read only", class_="quiet", title="Your token does not allow changes.")
    log_out = tag("form", tag("button", "Log out", type="submit"), method="post", action="/logout")
    tools = [
        note if read_only else None,
        tag("a", tag("kbd", "/", aria_hidden="true"), "search", href="/runs?focus=1", id="search"),
        tag(
            "a",
            tag("kbd", "?", aria_hidden="true"),
            "keys",
            href="/settings#all-keys",
            data_opens="keys",
        ),
        log_out if logged_in else None,
    ]
    return tag(
        "header",
        tag("a", "CAROB", href="/", class_="brand", aria_label="Carob, home"),
        tag("nav", tag("ul", links), aria_label="Pages"),
        tag("div", tools, theme, class_="tools"),
    )


def _count(name: str, number: int) -> Child:
    if not number:
        return None
    dot = tag("span", " ●", class_="passed", aria_hidden="true") if name == "Live" else None
    return [dot, " ", tag("b", f"{number:,}"), tag("span", _COUNTED[name], class_="unseen")]


_COUNTED = {"Live": " open sessions", "Review": " waiting"}


def _crumbs(crumbs: Sequence[tuple[str, str]]) -> Markup | None:
    if not crumbs:
        return None
    items = [
        tag("li", tag("a", name, href=address) if address else tag("span", name), dir="auto")
        for name, address in crumbs
    ]
    return tag("nav", tag("ol", items), aria_label="Breadcrumbs", class_="crumbs")


def _footer(keys: Sequence[tuple[str, str]]) -> Markup:
    shown: list[Child] = [[_key(key, what), " "] for key, what in keys]
    return tag(
        "footer",
        tag("p", join(shown), id="page-keys"),
        tag("p", role="status", id="said", class_="unseen"),
    )


def _key(key: str, what: str) -> Markup:
    marks: list[Child] = [[tag("kbd", part), " "] for part in key.split()]
    return tag("span", marks, what, class_="key")


def key_list() -> Markup:
    """Return all keys and what they do."""
    return tag(
        "dl",
        [
            [tag("dt", [[tag("kbd", k), " "] for k in key.split()]), tag("dd", what)]
            for key, what in KEYS
        ],
        class_="keys",
    )


def _dialog() -> Markup:
    return tag(
        "dialog",
        tag("h2", "Keys", id="keys-title"),
        key_list(),
        tag(
            "form",
            tag("button", "Switch single keys off", type="button", id="keys-switch"),
            tag("button", "Close", type="submit"),
            method="dialog",
            class_="filters",
        ),
        id="keys",
        aria_labelledby="keys-title",
    )
