"""Results as text, JSON, CSV, Markdown, JUnit, SARIF and HTML. Renders only."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

import msgspec


def render(result: object, form: str, forms: Mapping[str, Callable[[], str]]) -> str:
    """Return a result as one JSON document, or in one of the other `forms`."""
    return format_json(result) if form == "json" else forms[form]()


def format_json(result: object) -> str:
    """Return a result as one indented JSON document."""
    return "".join(json_parts(result))


class JsonStream:
    """A list in a JSON document whose items are made while they are written."""

    def __init__(self, items: Iterable[object]) -> None:
        self.items = items


def json_parts(result: object) -> Iterator[str]:
    """Yield a result as one indented JSON document, in parts. Lists that are streams or in files
    are never in memory as a whole."""
    streams: list[Iterable[object]] = []

    def replace_stream(value: object) -> str:
        streams.append(stream_items(value))
        return f"{mark}{len(streams) - 1}"

    mark = _make_mark()
    text = msgspec.json.encode(result, enc_hook=replace_stream)
    text = msgspec.json.format(text, indent=2).decode() + "\n"
    parts = re.split(rf'( *)(.*)"{mark}(\d+)"', text) if streams else [text]
    for position in range(0, len(parts) - 1, 4):
        before, indent, key, number = parts[position : position + 4]
        yield f"{before}{indent}{key}["
        yield from _list_items(streams[int(number)], f"\n{indent}  ", f"\n{indent}]")
    yield parts[-1]


def stream_items(value: object) -> Iterable[object]:
    """Return the items of a stream, for an encoder that does not know the type of a value."""
    if isinstance(value, JsonStream):
        return value.items
    if isinstance(value, Sequence):  # of a file, or made while it is iterated
        return cast("Iterable[object]", value)
    raise NotImplementedError(f"cannot write {type(value).__name__} as JSON")


def _make_mark() -> str:
    import secrets  # late: only JSON needs it

    return f"stream-{secrets.token_hex(16)}-"


def _list_items(items: Iterable[object], lead: str, end: str) -> Iterator[str]:
    separator = lead
    for item in items:
        pretty = msgspec.json.format(msgspec.json.encode(item), indent=2).decode()
        yield separator + pretty.replace("\n", lead)
        separator = f",{lead}"
    yield "]" if separator == lead else end


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
