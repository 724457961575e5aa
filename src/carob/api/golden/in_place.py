"""Write an edited dataset over the file that it was read from, and change no byte without need."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from carob.api.datasets import save, save_with_losses
from carob.api.load import format_name, golden_formats
from carob.datasets.read import open_golden
from carob.datasets.sidecar import has_sidecar, read_sidecar, sidecar_path, write_with_sidecar
from carob.datasets.splice import splice_json
from carob.errors import RefusedError
from carob.files.opening import read_packed
from carob.schema import Dataset, Loss


def encode_files(dataset: Dataset, file: Path) -> dict[str, bytes]:
    """Return the golden file and its sidecar file, if it needs one, as they would be written."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        save(dataset, copy, format=format_name(dataset))
        return read_files(copy)


def read_files(file: Path) -> dict[str, bytes]:
    """Return the bytes of a golden file and of its sidecar file, if it has one, by name."""
    return {part.name: part.read_bytes() for part in file_parts(file)}


def file_parts(file: Path) -> tuple[Path, ...]:
    """Return the paths of a golden file and of its sidecar file, if it has one."""
    return (file, sidecar_path(file)) if has_sidecar(file) else (file,)


def save_in_place(dataset: Dataset, file: Path) -> None:
    """Write a dataset over the file that it was read from. JSON keeps its layout, numbers and
    escapes, and a table whose cells are the same keeps all of its bytes."""
    with TemporaryDirectory() as folder:
        copy = Path(folder) / file.name
        form = format_name(dataset)
        _check_complete(save_with_losses(dataset, copy, format=form), form, file)
        write_with_sidecar(file, _merge(file, copy), read_sidecar(copy))


def _check_complete(losses: Sequence[Loss], form: str | None, file: Path) -> None:
    """Raise `RefusedError` if the format cannot hold a whole case: it would be preserved for other
    formats, and be no case of this dataset any more."""
    omitted = next((loss for loss in losses if loss.field == "$"), None)
    if omitted:
        message = f"the format {form} cannot hold case {omitted.case!r}: {omitted.reason}"
        raise RefusedError(message, where=file.name, hint="add what is missing")


def _merge(file: Path, copy: Path) -> bytes:
    """The bytes of the file with the values of the copy; those of the copy if that fails."""
    original = open_golden(file, golden_formats())
    if original.source.container == "table":
        return (file if _have_equal_rows(file, copy) else copy).read_bytes()
    data, packing = read_packed(file)
    rewritten, _ = read_packed(copy)
    try:
        edited = (
            _splice_rows(data, rewritten)
            if original.source.container == "rows"
            else splice_json(data, msgspec.json.decode(rewritten))
        )
    except (ValueError, RecursionError):  # not JSON
        edited = None
    return copy.read_bytes() if edited is None else packing.pack(edited)


def _have_equal_rows(file: Path, copy: Path) -> bool:
    tables = [open_golden(path, golden_formats()) for path in (file, copy)]
    first, second = ([row.value for row in table.items()] for table in tables)
    return tables[0].source.columns == tables[1].source.columns and first == second


def _splice_rows(data: bytes, rewritten: bytes) -> bytes | None:
    """The JSON lines with the values of other lines, which have no blank ones between them."""
    new = iter(rewritten.splitlines())
    edited: list[bytes] = []
    for line in data.splitlines(keepends=True):
        row = splice_json(line, msgspec.json.decode(next(new, b""))) if line.strip() else line
        if row is None:
            return None
        edited.append(row)
    return b"".join(edited) if next(new, None) is None else None
