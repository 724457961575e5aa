"""Add cases to an existing golden file: its cases come first, and ids stay unique."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import msgspec

from carob.api.load import format_name, golden_formats, load_streamed
from carob.datasets.read import open_golden
from carob.errors import CarobError, UsageError
from carob.files.ids import make_unique
from carob.files.spool import Spool
from carob.schema import Case, Dataset
from carob.schema.codec import CASES


class NewCases(NamedTuple):
    """The cases that a dataset does not have yet, with the ids they get, and the others."""

    added: Sequence[Case]
    known: Sequence[Case] = ()


def load_existing(path: Path) -> Dataset | None:
    """Load the dataset that cases are added to, or return `None` if there is no file yet."""
    return load_streamed(path) if path.is_file() and path.stat().st_size else None


def target_format(to: str | None, path: Path, existing: Dataset | None) -> str:
    """Return the format to write: the format of the existing dataset, which `to` must not
    contradict, or `to`."""
    form = format_name(existing) if existing else None
    if form and to and form != to:
        message = f"{path} has the format {form}, cannot append {to}"
        raise UsageError(message, hint=f"pass --to {form}")
    if form or to:
        return form or to or ""
    names = [form.name for form in golden_formats() if form.writable]
    raise UsageError("missing option --to", hint=f"expected one of: {', '.join(names)}")


def overwrite_hint(path: Path, form: str) -> str:
    """Return what to do about a file that exists. Cases can be added to one of the same format."""
    try:
        appendable = path.is_file() and open_golden(path, golden_formats()).format.name == form
    except CarobError:  # not golden data
        appendable = False
    append = "--append to add the cases, or " if appendable else ""
    return f"pass {append}--force to overwrite"


def select_new_cases(known: Sequence[Case], cases: Sequence[Case]) -> NewCases:
    """Return the cases that are not known yet, with ids that are unique among all of them."""
    if not known:
        return NewCases(cases)
    ids, contents = dict[str, int](), set[bytes]()
    for case in known:
        ids[case.id] = 1
        contents.add(_content_digest(case))
    added, repeated = Spool(CASES), Spool(CASES)
    for case in cases:
        if _content_digest(case) in contents:
            repeated.append(case)
        else:
            added.append(msgspec.structs.replace(case, id=make_unique(case.id, ids)))
    return NewCases(added.finish(), repeated.finish())


def join_cases(*parts: Iterable[Case]) -> Sequence[Case]:
    """Return the cases of all parts. Many cases are kept in a file."""
    spool = Spool(CASES)
    for part in parts:
        spool.extend(part)
    return spool.finish()


def _content_digest(case: Case) -> bytes:
    """Identifies everything but the id, which a case may have got a number added to, and its
    document."""
    content = msgspec.json.encode(msgspec.structs.replace(case, id="", origin=None))
    return blake2b(content, digest_size=16).digest()
