"""Add cases to an existing golden file: its cases come first, and ids stay unique."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob import plugins
from carob.api.load import format_name, load
from carob.datasets.ids import make_unique
from carob.datasets.read import open_golden
from carob.errors import CarobError, UsageError
from carob.schema import Case, Dataset


class NewCases(NamedTuple):
    """The cases that a dataset does not have yet, with the ids they get, and the others."""

    added: list[Case]
    known: list[Case]


def load_existing(path: Path) -> Dataset | None:
    """Load the dataset that cases are added to, or return `None` if there is no file yet."""
    return load(path) if path.is_file() and path.stat().st_size else None


def target_format(to: str | None, path: Path, existing: Dataset | None) -> str:
    """Return the format to write: the format of the existing dataset, which `to` must not
    contradict, or `to`."""
    form = format_name(existing) if existing else None
    if form and to and form != to:
        message = f"{path} has the format {form}, cannot append {to}"
        raise UsageError(message, hint=f"pass --to {form}")
    if form or to:
        return form or to or ""
    names = [form.name for form in plugins.formats() if form.writable]
    raise UsageError("missing option --to", hint=f"expected one of: {', '.join(names)}")


def overwrite_hint(path: Path, form: str) -> str:
    """Return what to do about a file that exists. Cases can be added to one of the same format."""
    try:
        appendable = path.is_file() and open_golden(path, plugins.formats()).format.name == form
    except CarobError:  # not golden data
        appendable = False
    append = "--append to add the cases, or " if appendable else ""
    return f"pass {append}--force to overwrite"


def select_new_cases(known: Sequence[Case], cases: Sequence[Case]) -> NewCases:
    """Return the cases that are not known yet, with ids that are unique among all of them."""
    if not known:
        return NewCases([*cases], [])
    ids, contents = {case.id for case in known}, set(map(_content, known))
    new = NewCases([], [])
    for case in cases:
        if _content(case) in contents:
            new.known.append(case)
        else:
            new.added.append(msgspec.structs.replace(case, id=make_unique(case.id, ids)))
    return new


def _content(case: Case) -> bytes:
    """Everything but the id, which a case may have got a number added to, and its document."""
    return msgspec.json.encode(msgspec.structs.replace(case, id="", origin=None))
