"""Join files that each have one event of a conversation, as OpenHands and bots store them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from carob.errors import CarobError
from carob.files.remote import CopiedFile
from carob.schema import Json
from carob.schema.problem import ignore
from carob.traces.containers.registry import find_container, line_containers
from carob.traces.reading.json_values import read_values

_WRITERS = frozenset(("openhands", "bot-framework"))
"""The containers whose events may have a file each."""
_MAX_SIZE = 1 << 20
_PROBED = 2


def group_event_files(paths: list[Path]) -> list[list[Path]]:
    """Return the files in groups: those of a folder with one event each together, in the order of
    their names, and any other file alone."""
    by_folder: dict[Path, list[Path]] = {}
    for path in paths:
        if path.suffix == ".json" and not isinstance(path, CopiedFile):
            by_folder.setdefault(path.parent, []).append(path)
    events = {
        path
        for files in by_folder.values()
        if len(files) > 1 and all(map(_has_one_event, sorted(files)[:_PROBED]))
        for path in files
        if _has_one_event(path)
    }
    groups: list[list[Path]] = []
    seen: set[Path] = set()
    for path in paths:
        if path not in events:
            groups.append([path])
        elif path.parent not in seen:
            seen.add(path.parent)
            groups.append(sorted({*by_folder[path.parent]} & events))
    return groups


def _has_one_event(path: Path) -> bool:
    try:
        if path.stat().st_size > _MAX_SIZE:
            return False
        values = [*_first_values(path)]
    except (CarobError, OSError):
        return False
    if len(values) != 1 or find_container(values[0]) is not None:
        return False
    owner = next((line for line in line_containers() if line.claims_line(values[0])), None)
    return owner is not None and owner.name in _WRITERS


def _first_values(path: Path) -> Iterator[dict[str, Json]]:
    for value in read_values(path, report=ignore):
        if isinstance(value, dict):
            yield value
