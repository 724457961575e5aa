"""Mutations of documents that keep most of their structure, so that they get past the parsers."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from random import Random
from typing import Any, cast

_TEXTS = (
    "",
    " ",
    "null",
    "NaN",
    "0",
    "-1",
    "1e999",
    "true",
    "[]",
    '{"a": 1}',
    "a" * 5000,
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\u202eevil\u2066\u200b\ufeff",
    "\x00",
    "\ud800",
    "😀é́",
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    "../../../../etc/passwd",
    "2026-13-45T25:61:00Z",
    "{{7*7}} ${x} %s %n",
    "(a+)+$",
    "]]>",
    "\r\n\r\n",
)
_NUMBERS = (0, -0.0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**63), 10**400, 1e308, 5e-324, 0.1)
_VALUES: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"": None}, *_NUMBERS, *_TEXTS)
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\0\0", b"\x1f\x8b", b"PK\x03\x04")


def mutate(data: bytes, donor: bytes, random: Random) -> bytes:
    """Return a document that is like `data` in form, with one to four changes. Parts of `donor`,
    another document, may appear in it."""
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        data = _pick(data, random)(data, donor, random)
    return data[:400_000]


def _pick(data: bytes, random: Random) -> Callable[[bytes, bytes, Random], bytes]:
    if random.random() < 0.15:
        return _mutate_bytes
    start = data.lstrip()[:1]
    if start in (b"{", b"["):
        return _mutate_json
    return random.choice((_mutate_table, _mutate_lines, _mutate_bytes))


def _mutate_json(data: bytes, donor: bytes, random: Random) -> bytes:
    lines = data.splitlines()
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        tree = None
    if tree is None and len(lines) > 1:
        row = random.randrange(len(lines))
        lines[row] = _mutate_json(lines[row], donor, random) if random.random() < 0.8 else b""
        return b"\n".join(lines)
    if tree is None:
        return _mutate_bytes(data, donor, random)
    holder = [tree]
    _change(holder, _parse_donor(donor), random)
    try:
        text = json.dumps(holder[0], ensure_ascii=random.random() < 0.7)
        return text.encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        return data


def _parse_donor(donor: bytes) -> Any:
    try:
        return json.loads(donor)
    except (ValueError, RecursionError):
        return donor.decode("utf-8", "replace")[:2000]


def _change(holder: list[Any], donor: Any, random: Random) -> None:
    """Change one node of a tree. `holder` is a list with the tree as its only item."""
    parent, key = _random_place(holder, random)
    choice = random.random()
    if choice < 0.35:
        parent[key] = random.choice(_VALUES)
    elif choice < 0.5:
        donated, name = _random_place([donor], random)
        parent[key] = donated[name]
    elif choice < 0.6 and isinstance(parent, dict):
        table = cast("dict[str, Any]", parent)
        table[random.choice([*_TEXTS, str(key).upper(), f"{key}_"])] = table.pop(key)
    elif choice < 0.7 and parent is not holder:
        del parent[key]
    elif choice < 0.8 and isinstance(parent[key], list):
        parent[key] = parent[key] * random.choice((2, 3, 50))
    elif choice < 0.85:
        parent[key] = _nest(parent[key], random.choice((2, 60, 300)), random)
    elif isinstance(parent[key], str):
        parent[key] = _change_text(parent[key], random)
    else:
        parent[key] = str(parent[key])


def _random_place(holder: list[Any], random: Random) -> tuple[Any, Any]:
    """A container and a key in it, deep or shallow."""
    parent: Any = holder
    key: Any = 0
    while True:
        node: Any = parent[key]
        if not isinstance(node, dict | list) or not node or random.random() < 0.15:
            return parent, key
        branch = cast("dict[str, Any] | list[Any]", node)
        keys: list[Any] = [*branch] if isinstance(branch, dict) else [*range(len(branch))]
        parent, key = branch, random.choice(keys)


def _nest(value: Any, depth: int, random: Random) -> Any:
    as_list = random.random() < 0.5
    for _ in range(depth):
        value = [value] if as_list else {"a": value}
    return value


def _change_text(text: str, random: Random) -> str:
    place = random.randint(0, len(text))
    part = random.choice([*_TEXTS, text, text[::-1]])
    return random.choice((text[:place] + part + text[place:], text[:place], part))


def _mutate_table(data: bytes, donor: bytes, random: Random) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    try:
        rows = [*csv.reader(io.StringIO(text, newline=""))]
    except csv.Error:
        return _mutate_bytes(data, donor, random)
    cells = [(row, column) for row, line in enumerate(rows) for column in range(len(line))]
    if not cells:
        return random.choice(_TEXTS).encode("utf-8", "surrogatepass")
    row, column = random.choice(cells)
    choice = random.random()
    if choice < 0.6:
        cell = rows[row][column].encode("utf-8", "surrogateescape")
        changed = _mutate_json(cell, donor, random) if cell[:1] in (b"{", b"[") else None
        rows[row][column] = (
            _change_text(rows[row][column], random)
            if changed is None
            else changed.decode("utf-8", "surrogateescape")
        )
    elif choice < 0.7:
        del rows[row][column]
    elif choice < 0.8:
        rows.insert(row, rows[row])
    elif choice < 0.9:
        for line in rows:
            line.insert(min(column, len(line)), line[column] if column < len(line) else "")
    else:
        del rows[row]
    out = io.StringIO(newline="")
    delimiter = random.choice((",", ",", ",", ";", "\t"))
    csv.writer(out, delimiter=delimiter, lineterminator=random.choice(("\n", "\r\n"))).writerows(
        [[cell.replace("\0", "") for cell in line] for line in rows]
    )
    return out.getvalue().encode("utf-8", "surrogatepass")


def _mutate_lines(data: bytes, donor: bytes, random: Random) -> bytes:
    lines, others = data.splitlines(keepends=True), donor.splitlines(keepends=True)
    if not lines:
        return donor[:1000]
    place = random.randrange(len(lines))
    choice = random.random()
    if choice < 0.3:
        lines[place] = random.choice(others or lines)
    elif choice < 0.5:
        del lines[place]
    elif choice < 0.7:
        name, sign, _ = lines[place].partition(random.choice((b"=", b":")))
        value = random.choice(_VALUES)
        text = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b""
        lines[place] = name + sign + (text or json.dumps(value).encode()) + b"\n"
    else:
        lines.insert(place, random.choice(lines))
    return b"".join(lines)


def _mutate_bytes(data: bytes, donor: bytes, random: Random) -> bytes:
    first, last = sorted((random.randint(0, len(data)), random.randint(0, len(data))))
    other = donor[random.randint(0, len(donor)) :][: random.randint(0, 200)]
    changes: tuple[Callable[[], bytes], ...] = (
        lambda: data[:first],
        lambda: data[:first] + data[last:],
        lambda: data[:first] + data[first : first + 100] * 3 + data[first:],
        lambda: data[:first] + other + data[first:],
        lambda: data[:first] + bytes([random.randrange(256)]) + data[first + 1 :],
        lambda: data[:first] + random.randbytes(random.randint(1, 8)) + data[first:],
        lambda: random.choice(_BOMS) + data,
        lambda: gzip.compress(data, 1),
        lambda: gzip.compress(data, 1)[: random.randint(0, 400)],
        lambda: data.decode("utf-8", "replace").encode(random.choice(("utf-16", "utf-32"))),
        lambda: data + data,
        lambda: b"\n" * random.randint(0, 3) + data.replace(b'"', b"'", 3),
    )
    return random.choice(changes)()
