"""The sidecar file of a golden file, such as `faq.csv.carob.json`.

Rows and tables have no room for the data that a conversion preserves for round-tripping.

Two files cannot be replaced at once. So the sidecar file is written first, with the digest of the
table that will follow, and with the sidecar of the table that will be replaced. Whichever table a
crash leaves behind, its sidecar is there. After the table, the sidecar file is written alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from carob.datasets.encode import JsonMembers, JsonText, encode_json, format_parts
from carob.datasets.json_list import JsonScanner, OtherLayoutError
from carob.datasets.lens import RoundTrip
from carob.errors import InputError
from carob.files.atomic import Content, FileContent, content_parts, is_stream, write_atomic
from carob.files.digest_table import collect_mapping, mapping_pairs
from carob.files.lock import lock_folder
from carob.files.spool import Spool
from carob.schema.base import prepare_type
from carob.schema.codec import BytesCodec

SIDECAR_SUFFIX = ".carob.json"
_LIMIT = 512 * 2**20
"""Bytes of a sidecar file that cannot be read case by case."""
_LARGE = 4 << 20
"""Bytes of a sidecar file that is read as a whole."""


class Sidecar(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a sidecar file preserves: for the dataset, and for cases by id."""

    dataset: RoundTrip | None = None
    cases: Mapping[str, RoundTrip] = {}
    table: str | None = None
    """The digest of the table that it belongs to, until that table is written."""
    previous: Sidecar | None = None
    """The sidecar of the table that is being replaced."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to preserve."""
        return self.dataset is None and not self.cases


def sidecar_path(path: Path) -> Path:
    """The path of the sidecar file of a golden file."""
    return path.with_name(f"{path.name}{SIDECAR_SUFFIX}")


def has_sidecar(path: Path) -> bool:
    """Whether the golden file `path` has a sidecar file."""
    try:
        return sidecar_path(path).is_file()
    except OSError:  # the name would be longer than the system allows
        return False


def read_sidecar(path: Path) -> Sidecar:
    """Read the sidecar file of the golden file `path`; empty if there is none. Raises `InputError`
    if it is invalid or belongs to another version of the file."""
    if not has_sidecar(path):
        return Sidecar()
    file = sidecar_path(path)
    try:
        size = file.stat().st_size
        sidecar = _read_large(file) if size > _LARGE else None
        if sidecar is None:
            if size > _LIMIT:  # it would be in memory as a whole, several times over
                raise InputError(f"sidecar file exceeds {_LIMIT >> 20} MiB", where=str(file))
            sidecar = msgspec.json.decode(file.read_bytes(), type=prepare_type(Sidecar))
        return sidecar if sidecar.table is None else _choose(path, sidecar)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"invalid sidecar file: {error}",
            where=str(file),
            hint=f"delete {file.name} to read {path.name} without it",
        ) from error


def _read_large(file: Path) -> Sidecar | None:
    """Read a sidecar file case by case. Returns `None` if an interrupted write left two in it, or
    if it is not valid."""
    decode = msgspec.json.Decoder(prepare_type(RoundTrip)).decode
    dataset, cases = None, dict[str, RoundTrip]()
    with file.open("rb") as stream:
        scanner = JsonScanner(stream)
        try:
            for key in scanner.read_members():
                if key == "cases":
                    names = scanner.read_members()
                    cases = collect_mapping((name, decode(scanner.read_value())) for name in names)
                elif key == "dataset":
                    dataset = decode(scanner.read_value())
                else:
                    return None
            return None if scanner.peek() else Sidecar(dataset, cases)
        except (OtherLayoutError, ValueError, RecursionError):
            return None


def _choose(path: Path, sidecar: Sidecar) -> Sidecar:
    """Choose the sidecar of the table that an interrupted write left behind."""
    digest = _digest(FileContent(path))
    for candidate in (sidecar, sidecar.previous):
        if candidate is not None and candidate.table == digest:
            return Sidecar(candidate.dataset, candidate.cases)
    file = sidecar_path(path)
    raise InputError(
        f"the sidecar file belongs to another version of {path.name}: a write was interrupted",
        where=str(file),
        hint=f"write {path.name} again, or delete {file.name} to read it without",
    )


def write_with_sidecar(path: Path, data: Content, sidecar: Sidecar) -> None:
    """Replace a golden file and its sidecar file, which is removed if there is nothing in it."""
    file, is_empty = sidecar_path(path), sidecar.is_empty
    if is_stream(path) or (is_empty and not has_sidecar(path)):
        write_atomic(path, data)
        return
    with lock_folder(path.parent):  # else the sidecar of one process could meet another's table
        previous = _previous(path)
        if previous is None or previous.table != _digest(data):
            pending = msgspec.structs.replace(sidecar, table=_digest(data), previous=previous)
            write_atomic(file, encode_sidecar(pending))
            write_atomic(path, data)
        if is_empty:
            file.unlink(missing_ok=True)
        else:
            write_atomic(file, encode_sidecar(sidecar))


def encode_sidecar(sidecar: Sidecar) -> Sequence[bytes]:
    """The content of a sidecar file in parts; none if there is nothing to preserve."""
    spool = Spool(BytesCodec())
    if not sidecar.is_empty or sidecar.table is not None:
        spool.extend(format_parts(_members(sidecar)))
    return spool.finish()


def _members(sidecar: Sidecar) -> JsonMembers:
    members: list[tuple[str, JsonText]] = []
    if sidecar.dataset is not None:
        members.append(("dataset", encode_json(sidecar.dataset)))
    if sidecar.cases:
        pairs = mapping_pairs(sidecar.cases)
        cases = JsonMembers((name, encode_json(round_trip)) for name, round_trip in pairs)
        members.append(("cases", cases))
    if sidecar.table is not None:
        members.append(("table", encode_json(sidecar.table)))
    if sidecar.previous is not None:
        members.append(("previous", _members(sidecar.previous)))
    return JsonMembers(members)


def _previous(path: Path) -> Sidecar | None:
    """The sidecar of the table that is there, with its digest; `None` if there is no table."""
    try:
        table = _digest(FileContent(path))
        return msgspec.structs.replace(read_sidecar(path), table=table)
    except (OSError, InputError):
        return None


def _digest(content: Content) -> str:
    digest = sha256()
    for part in content_parts(content):
        digest.update(part)
    return f"sha256:{digest.hexdigest()}"
