"""Where golden cases are in their file."""

from __future__ import annotations

from pathlib import Path

from carob import plugins
from carob.api.loading import PathName
from carob.api.references import referenced
from carob.datasets import locate
from carob.datasets.aside import Aside, read_aside
from carob.datasets.read import open_golden, read_cases


def places(golden: PathName) -> dict[str, tuple[str, int]]:
    """For the id of each case, the file and the line."""
    one = referenced(golden)
    path = one.file if one else Path(golden)
    opened = open_golden(path, plugins.formats(), one.record.format if one else None)
    document = opened.container == "document"
    ids = [case.id for case in read_cases(opened, Aside() if document else read_aside(path))]
    rows = list(opened.items())
    if not document:
        return {id: (str(path), row.line) for id, row in zip(ids, rows, strict=True)}
    members = [opened.member(index, row) for index, row in enumerate(rows)]
    lines = locate.lines(opened.source.data, members)
    return {id: (str(path), lines.get(name, 1)) for id, name in zip(ids, members, strict=True)}
