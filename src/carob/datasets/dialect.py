"""The dialect of a table in the frame of a dataset, so that it is written as it was read."""

from __future__ import annotations

import msgspec

from carob.files.dialect import TableDialect
from carob.schema import Json
from carob.schema.base import prepare_type

FRAME_KEY = "dialect"
"""The key of a dialect that is not the default in the frame of a table."""


def read_dialect(frame: Json) -> TableDialect:
    """The dialect in the frame of a table."""
    stated = frame.get(FRAME_KEY) if isinstance(frame, dict) else None
    try:
        return msgspec.convert(stated or {}, prepare_type(TableDialect))
    except msgspec.ValidationError:  # edited by hand in a sidecar file
        return TableDialect()
