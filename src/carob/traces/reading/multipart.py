"""The body of a multipart request in which LangSmith's clients send runs.

A run has a part for its head, named `post.<id>` or `patch.<id>`, and one for each large field, such
as `post.<id>.inputs`. The parts of all runs together are the batch that other requests have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from carob.errors import FormatError
from carob.files.opening import InputFile
from carob.schema import Json

_HEAD = re.compile(rb"--[^\r\n]+\r?\nContent-Disposition: form-data", re.IGNORECASE)
_NAME = re.compile(rb'\bname="([^"]+)"', re.IGNORECASE)
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_OPERATIONS = frozenset(("post", "patch"))


def is_multipart(file: InputFile) -> bool:
    """Whether a file is the body of a multipart request."""
    return _HEAD.match(file.head) is not None


def read_batch(body: bytes, source: str) -> dict[str, Json]:
    """Return the runs of a body as one batch, with lists of `post` and `patch`."""
    runs: dict[tuple[str, str], dict[str, Json]] = {}
    for name, content in _split(body):
        operation, _, rest = name.partition(".")
        run_id, _, field = rest.partition(".")
        if operation in _OPERATIONS and run_id:
            run = runs.setdefault((operation, run_id), {"id": run_id})
            value = _decode(content, f"{source} part {name!r}")
            run.update({field: value} if field else value if isinstance(value, dict) else {})
    if not runs:
        raise FormatError(
            "a multipart body without runs of LangSmith",
            where=source,
            hint="store the files of the request, not the request",
        )
    return {
        operation: [run for (kind, _), run in runs.items() if kind == operation]
        for operation in ("post", "patch")
    }


def _split(body: bytes) -> Iterator[tuple[str, bytes]]:
    """The parts of a body by their names. The line that divides them is the first one."""
    delimiter = body[: body.index(b"\n")].rstrip(b"\r")
    for part in body.split(delimiter + b"\r\n" if b"\r\n" in body else delimiter + b"\n")[1:]:
        end = _END_OF_HEAD.search(part)
        name = _NAME.search(part, 0, end.start()) if end else None
        if end and name:
            content = part[end.end() :].split(b"\n" + delimiter + b"--")[0]
            yield name[1].decode(errors="replace"), content


def _decode(content: bytes, where: str) -> Json:
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"not JSON: {error}", where=where) from None
