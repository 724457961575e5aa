"""Read and write YAML as plain values, within limits.

YAML is read event by event. A document tree is never built by PyYAML: aliases could expand to
gigabytes, and 40 KB of nested brackets could take it half a minute. Aliases and merge keys are
written out as copies, and the copies are counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any, TypeAlias, cast

from carob.errors import UsageError, install_hint

Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
Resolver: TypeAlias = Callable[[str], Any]
"""Turns the text of a plain scalar into its value."""

_MAX_DEPTH = 100
"""No file that a person writes comes close."""
_MAX_COPIED = 100_000
"""Values that aliases may stand for in one document: nine lines can stand for billions."""
_TEXT = "tag:yaml.org,2002:str"
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


class YamlDocument:
    """A decoded YAML text, with the line of each value."""

    def __init__(self, text: str, resolve: Resolver) -> None:
        yaml = import_yaml()
        self._yaml = yaml
        self._resolve = resolve
        self.lines: dict[str, int] = {}
        """The line of each path, such as `$.cases[3].id`."""
        self.aliases = 0
        """The number of aliases, which a decoded value does not have."""
        self._anchors: dict[str, Any] = {}
        self._copied = 0
        self._scalars: list[tuple[Any, Any]] | None = [] if "#" in text else None
        # The parser in C is ten times faster, and missing from some builds of PyYAML.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            self._events: Iterator[Any] = yaml.parse(text, Loader=loader)
            self.value: Any = self._read_stream()
        except yaml.MarkedYAMLError as error:
            line = f" (at line {error.problem_mark.line + 1})" if error.problem_mark else ""
            raise ValueError(f"{error.problem}{line}") from error
        except yaml.YAMLError as error:
            raise ValueError(" ".join(str(error).split())) from error
        self.comments = 0 if self._scalars is None else _count_comments(text, self._scalars)
        """The number of lines with a comment, which a decoded value does not have."""

    def _read_stream(self) -> Any:
        value = None
        documents = 0
        for event in self._events:
            if isinstance(event, self._yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise ValueError(f"more than one document {_at(event)}")
                value = self._read_node(next(self._events), "$", 0)
        return value

    def _read_node(self, event: Any, path: str, depth: int) -> Any:
        yaml = self._yaml
        if isinstance(event, yaml.AliasEvent):
            self.lines.setdefault(path, event.start_mark.line + 1)
            return self._copy_anchor(event, depth)
        if depth == _MAX_DEPTH:
            raise _too_deep(event)
        value = self._read_value(event, path, depth)
        if event.anchor is not None:
            # After the value was read: an alias inside of it would have no end.
            self._anchors[event.anchor] = value
        return value

    def _copy_anchor(self, event: Any, depth: int) -> Any:
        self.aliases += 1
        if event.anchor not in self._anchors:
            raise ValueError(f"unknown alias {event.anchor!r} {_at(event)}")
        value = self._anchors[event.anchor]
        nodes, levels = _measure(value)
        self._copied += nodes
        if self._copied > _MAX_COPIED:
            raise ValueError(f"aliases of more than {_MAX_COPIED:,} values {_at(event)}")
        if depth + levels > _MAX_DEPTH:
            raise _too_deep(event)
        return deepcopy(value)

    def _read_value(self, event: Any, path: str, depth: int) -> Any:
        yaml = self._yaml
        if event.tag is not None and event.tag != _TEXT:
            raise ValueError(f"tags are not supported {_at(event)}; remove {event.tag!r}")
        self.lines.setdefault(path, event.start_mark.line + 1)
        if isinstance(event, yaml.MappingStartEvent):
            return self._read_mapping(path, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._read_sequence(path, depth)
        if self._scalars is not None:
            self._scalars.append((event.start_mark, event.end_mark))
        # A text in quotes is a text whatever it looks like.
        is_plain = event.implicit[0]
        return self._resolve(event.value) if is_plain else event.value

    def _read_mapping(self, path: str, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        end: type = self._yaml.MappingEndEvent
        while not isinstance(event := next(self._events), end):
            key = event.value if isinstance(event, self._yaml.ScalarEvent) else None
            if key is None or (event.implicit[0] and not isinstance(self._resolve(key), str)):
                raise ValueError(f"expected a text key {_at(event)}")
            if key == "<<" and event.implicit[0]:
                merged |= self._read_merged(event, path, depth)
                continue
            if key in mapping:
                raise ValueError(f"duplicate key {key!r} {_at(event)}")
            member = f"{path}.{key}"
            self.lines[member] = event.start_mark.line + 1
            mapping[key] = self._read_node(next(self._events), member, depth + 1)
        return {**merged, **mapping} if merged else mapping

    def _read_merged(self, key: Any, path: str, depth: int) -> dict[str, Any]:
        """The members of the mappings after `<<`; the first mapping with a key decides."""
        value = self._read_node(next(self._events), f"{path}.<<", depth + 1)
        mappings = cast("list[Any]", value) if isinstance(value, list) else [value]
        merged: dict[str, Any] = {}
        for mapping in mappings:
            if not isinstance(mapping, dict):
                raise ValueError(f"expected a mapping after '<<' {_at(key)}")
            merged = {**mapping, **merged}
        return merged

    def _read_sequence(self, path: str, depth: int) -> list[Any]:
        sequence: list[Any] = []
        end: type = self._yaml.SequenceEndEvent
        while not isinstance(event := next(self._events), end):
            sequence.append(self._read_node(event, f"{path}[{len(sequence)}]", depth + 1))
        return sequence


def _too_deep(event: Any) -> ValueError:
    return ValueError(f"nested deeper than {_MAX_DEPTH} levels {_at(event)}")


def _measure(value: Any) -> tuple[int, int]:
    """The number of values in a value, itself included, and how deep they are nested."""
    members = cast("list[Any]", value) if isinstance(value, list) else []
    if isinstance(value, dict):
        members = [*cast("dict[str, Any]", value).values()]
    sizes = [_measure(member) for member in members]
    return 1 + sum(nodes for nodes, _ in sizes), 1 + max((deep for _, deep in sizes), default=0)


def _count_comments(text: str, scalars: list[tuple[Any, Any]]) -> int:
    """Count the lines with a `#` outside of scalars."""
    lines = text.splitlines()
    for start, end in scalars:
        for number in range(start.line, min(end.line + 1, len(lines))):
            first = start.column if number == start.line else 0
            last = end.column if number == end.line else len(lines[number])
            lines[number] = lines[number][:first] + "x" * (last - first) + lines[number][last:]
    return sum("#" in line for line in lines)


def _at(event: Any) -> str:
    return f"(at line {event.start_mark.line + 1})"


def read_yaml(text: str) -> YamlDocument:
    """Read YAML 1.2. Raises `ValueError` with the line of the problem.

    Dates stay texts, and so do `yes` and `no`, which are answers in golden data.
    """
    return YamlDocument(text, _resolve_core)


def read_yaml_1_1(text: str) -> YamlDocument:
    """Read YAML 1.1, as tools do that use PyYAML: `yes` is true, and dates are dates."""
    yaml = import_yaml()
    loader = yaml.SafeLoader("")

    def resolve(value: str) -> Any:
        tag = loader.resolve(yaml.ScalarNode, value, (True, False))
        return loader.construct_object(yaml.ScalarNode(tag, value))

    return YamlDocument(text, resolve)


def _resolve_core(text: str) -> Value:
    """A plain scalar by the core schema of YAML 1.2."""
    if _NULL.fullmatch(text):
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**64:
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def write_yaml(value: object) -> bytes:
    """Write a value as YAML in block style. Texts of several lines are literal blocks."""
    yaml = import_yaml()

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: object) -> bool:
            return True

    def represent_text(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text.rstrip("\n") else None
        if _OTHER_LINE_ENDS.search(text):
            style = '"'  # escaped there; elsewhere they would be read as a space
        return dumper.represent_scalar(_TEXT, text, style=style)

    Dumper.add_representer(str, represent_text)
    # PyYAML quotes what YAML 1.1 would not read as a text; `1e3` is a number in 1.2 only.
    Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT_TEXT, list("-+.0123456789"))
    text = yaml.dump(value, Dumper=Dumper, allow_unicode=True, sort_keys=False, width=math.inf)
    return text.encode()


_OTHER_LINE_ENDS = re.compile("[\r\x85\u2028\u2029]")
_FLOAT_TEXT = re.compile(rf"^(?:{_FLOAT.pattern})$")


def import_yaml() -> Any:
    """PyYAML. Raises `UsageError` if it is not installed."""
    try:
        import yaml  # late: an extra, and slow to import
    except ImportError as error:
        message = "reading YAML requires the package 'PyYAML', which is not installed"
        raise UsageError(message, hint=install_hint("yaml")) from error
    return yaml
