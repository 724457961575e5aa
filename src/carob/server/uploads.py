"""Bodies and uploaded files, bounded in size and never opened by a name from the request."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import NamedTuple

from anyio import to_thread
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from carob.files.scratch import make_scratch_folder
from carob.server.problems import RequestError, system_error

UPLOAD_LIMIT = 512 * 2**20
_FIELDS = ("file", "eval_set_file")
"""Names of the form field; the second is agentevals' name."""
_BASE = "base"
_CHUNK = 2**20


class Upload(NamedTuple):
    """An uploaded file on disk, until the request is answered."""

    path: Path
    name: str
    """The last part of the client's file name: for messages and for the suffix only."""
    base: Path | None = None
    """The file in the field `base` of a form, which the first is compared with."""
    form_token: str = ""
    """What shows that a form is one of ours; pages check it, REST has other means."""

    def hide_path(self, body: bytes) -> bytes:
        """Replace the path of the file, which is nobody's business, by its name."""
        # The path is made of a random name and characters that JSON does not escape, so that
        # nothing else can match.
        return body.replace(str(self.path).encode(), self.name.encode())

    def remove(self) -> None:
        """Remove the file."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


async def receive_body(request: Request, limit: int) -> bytes:
    """Read a body. Raises `RequestError` with 413 as soon as it is larger than `limit`."""
    _check_length(request, limit)
    parts: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        parts.append(chunk)
    return b"".join(parts)


async def receive_upload(request: Request, limit: int = UPLOAD_LIMIT) -> Upload:
    """Store an upload, a raw body or a multipart form with one file, in a scratch folder."""
    _check_length(request, limit)
    try:
        folder = make_scratch_folder()
    except OSError as error:
        raise system_error(error) from error
    try:
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            return await _receive_form(request, folder, limit)
        return await _receive_raw(request, folder, limit)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise system_error(error) from error
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


async def _receive_raw(request: Request, folder: Path, limit: int) -> Upload:
    name = _file_name(request.headers.get("x-file-name") or "upload")
    path = folder / name
    size = 0
    with path.open("xb") as file:
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise _too_large(limit)
            await to_thread.run_sync(file.write, chunk)
    if not size:
        raise RequestError(400, "the body is empty", hint="send the file as body or as form")
    return Upload(path, name)


async def _receive_form(request: Request, folder: Path, limit: int) -> Upload:
    parser = MultiPartParser(
        request.headers, _stream_within_limit(request, limit), max_files=2, max_part_size=2**20
    )
    try:
        form = await parser.parse()
    except MultiPartException as error:
        raise RequestError(400, f"the form cannot be read: {error.message}") from error
    try:
        part = next((form[name] for name in _FIELDS if name in form), None)
        if not isinstance(part, UploadFile):
            names = " or ".join(f"`{name}`" for name in _FIELDS)
            found = ", ".join(form) or "none"
            raise RequestError(400, f"no file in the form, expected {names}; fields: {found}")
        unknown = [name for name in form if name not in (*_FIELDS, _BASE, "form_token")]
        if unknown:
            raise RequestError(400, f"unknown field {unknown[0]!r} in the form")
        base = form.get(_BASE)
        second = await _store(base, folder / _BASE) if isinstance(base, UploadFile) else None
        path = await _store(part, folder)
        token = form.get("form_token")
        return Upload(path, path.name, second, token if isinstance(token, str) else "")
    finally:
        await form.close()


async def _store(part: UploadFile, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / _file_name(part.filename or "upload")
    if path.is_dir():  # a file that is named like the field of the other one
        path = folder / f"{path.name}_"
    with path.open("xb") as file:
        while chunk := await part.read(_CHUNK):
            await to_thread.run_sync(file.write, chunk)
    return path


async def _stream_within_limit(request: Request, limit: int):  # noqa: ANN202 - an async generator of bytes
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        yield chunk


def _check_length(request: Request, limit: int) -> None:
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > limit:
        raise _too_large(limit)


def _too_large(limit: int) -> RequestError:
    return RequestError(413, f"larger than {limit >> 20} MiB")


def _file_name(text: str) -> str:
    """A harmless file name that keeps the suffixes, by which formats are recognized."""
    last = re.split(r"[/\\]", text)[-1]
    return re.sub(r"[^\w.-]", "_", last)[-100:].lstrip(".") or "upload"
