"""Results as text, JSON, CSV, Markdown, JUnit, SARIF and HTML. Renders only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec


def render(result: object, form: str, forms: Mapping[str, Callable[[], str]]) -> str:
    """Return a result as one JSON document, or in one of the other `forms`."""
    return format_json(result) if form == "json" else forms[form]()


def format_json(result: object) -> str:
    """Return a result as one indented JSON document."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"


def format_json_list(document: bytes, path: str, items: Iterable[bytes]) -> Iterator[str]:
    """Yield a JSON document whose list at `path` is empty, indented, with the encoded items in that
    list. The list is never in memory as a whole."""
    *parents, key = path.split(".")
    outer = "  " * (len(parents) + 1)
    text = msgspec.json.format(document, indent=2).decode() + "\n"
    # Text in JSON has no line breaks, so a line that begins like this is the key at that depth.
    before, found, after = text.partition(f'\n{outer}"{key}": []')
    if not found:
        raise ValueError(f"no empty list at {path}")
    yield f'{before}\n{outer}"{key}": ['
    inner = f"\n{outer}  "
    separator = inner
    for item in items:
        pretty = msgspec.json.format(item, indent=2).decode()
        yield separator + pretty.replace("\n", inner)
        separator = f",{inner}"
    yield f"]{after}" if separator == inner else f"\n{outer}]{after}"
