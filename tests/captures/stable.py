"""Make a recording independent of the machine and the moment of its run.

Ids become numbers in order of appearance, times become ranks, and paths, host names and ports
become fixed texts, so that the recording of a new version differs only where the version does.
"""

from __future__ import annotations

import getpass
import re
import socket
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

_EPOCH = 1_767_225_600_000_000_000
"""The time of the first event in every recording: 2026-01-01, in nanoseconds."""
_STEP = 1_000_000
_UNITS = {10: 1_000_000_000, 13: 1_000_000, 16: 1_000, 19: 1}
"""Nanoseconds per unit, by the number of digits of a Unix time."""
_UNIX_TIME = re.compile(r"(?<![\w.])(1[6-9]\d{8}(?:\d{3}){0,3})(\.\d+)?(?![\w.])")
_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)?(?![\d.])"
)
_COMPACT_TIME = re.compile(r"\d{8}T\d{12}Z")
_UUID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9a-f])")
_HEX_ID = re.compile(r"(?<![0-9A-Za-z])(?=[a-f]*\d)[0-9a-f]{24,64}(?![0-9A-Za-z])")
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")
_PORT = re.compile(r"(127\.0\.0\.1|localhost):\d{4,5}")
_LINE = re.compile(r"(\bline )\d+")
_FRAMES = re.compile(r"Traceback \(most recent call last\):.*\n(?=\S)", re.DOTALL)
_TIMING = re.compile(r"duration|latency|elapsed|time_to_|_seconds$|execution_time|_time_ms$|\.ms$")
_TIMING_IN_TEXT = re.compile(
    r'("[\w.]*(?:duration|latency|elapsed|time_to_|_time)[\w.]*\\*": ?)\d+(?:\.\d+)?(?:e-?\d+)?'
)
_MACHINE = re.compile(
    r"^(host|process|os|thread|container|telemetry)\.|^code\.(file|line|stack)|^logfire\.pending|"
    r"(?:^|\.)(revision_id|python_version|platform|runtime_version|sdk_version|py_implementation|"
    r"runtime|sys_version|os_name|os_version|os_release|library_version|crewai_version|sdk_integration_version|git\.[\w.]*)$"
)
"""Attributes that describe the machine."""
_LARGEST_NUMBER = 1 << 53
"""Larger numbers are ids."""
_KEPT_RESOURCE = ("service.name",)


class Stabilizer:
    """The replacements of one recording; equal values stay equal."""

    def __init__(self, exports: Iterable[Any], *, port: str, folders: Iterable[Path]) -> None:
        texts = {str(folder): "/app" for folder in sorted(folders, key=str)}
        texts[tempfile.gettempdir() + "/"] = "/app/tmp/"
        texts[socket.gethostname()] = "host"
        if (user := getpass.getuser()) != "root":
            texts[user] = "user"
        longest_first = sorted(texts, key=len, reverse=True)
        self._texts = {text: texts[text] for text in longest_first}
        self._port = port
        self._ids: dict[str, str] = {}
        now = int(datetime.now(UTC).timestamp() * 1e9)
        self._window = now - 6 * 3_600_000_000_000, now + 3_600_000_000_000
        times = sorted({time for export in exports for time in self._find_times(export)})
        self._times = {time: _EPOCH + rank * _STEP for rank, time in enumerate(times)}

    def stabilize(self, value: Any, key: str = "") -> Any:
        """Return the value with all replacements."""
        if isinstance(value, dict):
            return self._stabilize_dict(cast("dict[str, Any]", value))
        if isinstance(value, list):
            items = [item for item in cast("list[Any]", value) if not _describes_machine(item)]
            return [self.stabilize(item, key) for item in items]
        if isinstance(value, str):
            return self._stabilize_text(value, key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return value
        if _TIMING.search(key):
            return 0
        if str(value) == self._port:
            return 8000
        if isinstance(value, int) and key.endswith("_id") and value > _LARGEST_NUMBER:
            return self._replace_number(value)
        text = repr(value)
        replaced = _UNIX_TIME.sub(self._replace_unix_time, text)
        return value if replaced == text else type(value)(float(replaced))

    def _replace_number(self, value: int) -> int:
        """An id that is a number stays as long as it is."""
        number = int(self._ids.setdefault(str(value), str(len(self._ids) + 1)))
        return (1 << ((value.bit_length() - 1) // 64 * 64 + 60)) + number

    def _stabilize_dict(self, value: dict[str, Any]) -> dict[str, Any]:
        key = value.get("key")
        if isinstance(key, str) and "value" in value and len(value) == 2:  # OTLP's attributes
            content = value["value"]
            if _TIMING.search(key):
                content = {kind: 0 if kind != "stringValue" else "0" for kind in content}
            return {"key": key, "value": self.stabilize(content, key)}
        return {
            self._stabilize_text(name, ""): self.stabilize(item, name)
            for name, item in value.items()
            if not _MACHINE.search(name)
        }

    def _stabilize_text(self, text: str, key: str) -> str:
        if key in ("spanId", "parentSpanId", "span_id", "parent_id") and len(text) == 16:
            return self._number(text, 16)
        if key == "exception.stacktrace":
            text = text.rstrip().rpartition("\n")[2]
        for old, new in self._texts.items():
            text = text.replace(old, new)
        text = _ISO_TIME.sub(self._replace_iso_time, text)
        text = _UNIX_TIME.sub(self._replace_unix_time, text)
        text = _COMPACT_TIME.sub("20260101T000000000000Z", text)
        text = _UUID.sub(lambda match: self._number_uuid(match[0]), text)
        text = _HEX_ID.sub(lambda match: self._number(match[0], len(match[0])), text)
        text = _ADDRESS.sub("0x0", text)
        text = _PORT.sub(r"\1:8000", text)
        text = "8000" if text == self._port else text
        text = _FRAMES.sub("Traceback (most recent call last):\n", text)
        text = _TIMING_IN_TEXT.sub(r"\g<1>0", text)
        return _LINE.sub(r"\g<1>1", text)

    def _number(self, identifier: str, width: int) -> str:
        known = self._ids.setdefault(identifier, str(len(self._ids) + 1))
        return known.zfill(width)

    def _number_uuid(self, identifier: str) -> str:
        number = self._number(identifier, 12)
        return f"00000000-0000-4000-8000-{number}"

    def _find_times(self, value: Any) -> Iterator[int]:
        if isinstance(value, dict):
            for item in cast("dict[str, Any]", value).values():
                yield from self._find_times(item)
        elif isinstance(value, list):
            for item in cast("list[Any]", value):
                yield from self._find_times(item)
        elif isinstance(value, str | int | float):
            text = value if isinstance(value, str) else repr(value)
            for match in _UNIX_TIME.finditer(text):
                yield from self._within(_unix_nanoseconds(match))
            for match in _ISO_TIME.finditer(text):
                yield from self._within(_iso_nanoseconds(match))

    def _within(self, time: int) -> Iterator[int]:
        if self._window[0] < time < self._window[1]:
            yield time

    def _replace_unix_time(self, match: re.Match[str]) -> str:
        time = self._times.get(_unix_nanoseconds(match))
        if time is None:
            return match[0]
        unit = _UNITS[len(match[1])]
        return str(time // unit) if match[2] is None else f"{time / unit:.6f}"

    def _replace_iso_time(self, match: re.Match[str]) -> str:
        time = self._times.get(_iso_nanoseconds(match))
        if time is None:
            return match[0]
        moment = datetime.fromtimestamp(time / 1e9, UTC)
        separator = match[1][10]
        return f"{moment:%Y-%m-%d}{separator}{moment:%H:%M:%S.%f}{match[3] or ''}"


def _describes_machine(item: Any) -> bool:
    if not isinstance(item, dict) or "value" not in item:
        return False
    return bool(_MACHINE.search(str(cast("dict[str, Any]", item).get("key"))))


def _unix_nanoseconds(match: re.Match[str]) -> int:
    unit = _UNITS[len(match[1])]
    return int(match[1]) * unit + int(float(match[2] or 0) * unit)


def _iso_nanoseconds(match: re.Match[str]) -> int:
    zone = match[3] or "+00:00"
    moment = datetime.fromisoformat(match[1] + ("+00:00" if zone == "Z" else zone))
    return int(moment.timestamp()) * 1_000_000_000 + int((match[2] or "").ljust(9, "0"))


def stabilize_exports(
    exports: list[tuple[str, Any]], *, port: str, folders: Iterable[Path]
) -> list[dict[str, Any]]:
    """Return one line per span, log record or document, in order of time."""
    lines = [line for kind, export in exports for line in _split_export(kind, export)]
    lines.sort(key=lambda line: _start_of(line))
    stabilizer = Stabilizer(lines, port=port, folders=folders)
    return [stabilizer.stabilize(line) for line in lines]


def _split_export(kind: str, export: Any) -> Iterator[dict[str, Any]]:
    if kind == "document":
        yield export
        return
    outer, inner, leaf = (
        ("resourceSpans", "scopeSpans", "spans")
        if kind == "spans"
        else ("resourceLogs", "scopeLogs", "logRecords")
    )
    for resource in export.get(outer, ()):
        attributes = resource.get("resource", {}).get("attributes", ())
        kept = [item for item in attributes if item["key"] in _KEPT_RESOURCE]
        for scope in resource.get(inner, ()):
            name = {"name": scope.get("scope", {}).get("name", "")}
            if extra := scope.get("scope", {}).get("attributes"):
                name["attributes"] = extra
            for item in scope.get(leaf, ()):
                part = {"scope": name, leaf: [item]}
                yield {outer: [{"resource": {"attributes": kept}, inner: [part]}]}


def _start_of(line: dict[str, Any]) -> tuple[int, int]:
    """Spans first, in order of time; a parent that starts with its child comes before it."""
    for rank, (outer, inner, leaf, time) in enumerate(
        (
            ("resourceSpans", "scopeSpans", "spans", "startTimeUnixNano"),
            ("resourceLogs", "scopeLogs", "logRecords", "observedTimeUnixNano"),
        )
    ):
        if outer in line:
            return rank, int(line[outer][0][inner][0][leaf][0].get(time, 0))
    return 2, 0
