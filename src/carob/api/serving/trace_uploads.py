"""Files of traces that were uploaded to a server, by the digest of their content."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from carob.api.traces import list_traces, read_traces
from carob.errors import NotFoundError, OutputError, RefusedError
from carob.schema import Json, TraceListing
from carob.schema.job import TraceUpload
from carob.traces.otlp_export import export_spans

UPLOADS = Path(".carob") / "traces"
_MAX_BYTES = 10 * 2**30
"""Of all uploads together."""
_CHUNK = 2**20


def add_traces(folder: Path, source: Path) -> tuple[TraceUpload, TraceListing]:
    """Keep a file of traces, and list what it contains. The same file again is the same upload."""
    listing = list_traces(source)
    id = f"traces-{_digest(source)}"
    target = folder / id
    used = sum(upload.bytes for upload in list_uploads(folder))
    if not target.is_dir() and used + source.stat().st_size > _MAX_BYTES:
        hint = "delete uploads that no run needs"
        raise OutputError(f"uploads are limited to {_MAX_BYTES >> 30} GiB", hint=hint)
    try:
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target / source.name)
    except OSError as error:
        raise OutputError(f"the upload cannot be kept: {error.strerror}") from error
    return _upload(target), listing


def list_uploads(folder: Path) -> tuple[TraceUpload, ...]:
    """List uploads by id."""
    return tuple(_upload(path) for path in sorted(_folders(folder)))


def upload_file(folder: Path, id: str) -> Path:
    """Return the file of an upload. The id is looked up, never opened."""
    for path in _folders(folder):
        if path.name == id:
            return next(path.iterdir())
    raise NotFoundError(f"no uploaded traces {id!r}")


def export_upload(folder: Path, id: str) -> dict[str, Json]:
    """Return the spans of an upload as an OTLP export request."""
    spans = [
        span
        for trace in read_traces(upload_file(folder, id), spans=True)
        for span in trace.spans or ()
    ]
    if not spans:
        raise RefusedError(f"{id} has no spans", hint="its traces were not recorded as spans")
    return export_spans(spans)


def remove_upload(folder: Path, id: str) -> None:
    """Delete an upload."""
    shutil.rmtree(upload_file(folder, id).parent)


def _folders(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.is_dir() and any(path.iterdir()):
            yield path


def _upload(path: Path) -> TraceUpload:
    file = next(path.iterdir())
    return TraceUpload(path.name, file.name, file.stat().st_size)


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()[:24]
