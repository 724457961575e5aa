"""Golden data where recordings are expected."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from karat import plugins
from karat.datasets.read import open_golden
from karat.errors import InputError, KaratError


@contextmanager
def expecting_recordings(paths: Iterable[Path]) -> Generator[None]:
    """Whatever is wrong with recordings that are golden data: that is what is wrong with them."""
    try:
        yield
    except InputError as error:
        for path in paths:
            name = _golden(path) if (error.where or "").startswith(str(path)) else None
            if name:
                raise InputError(
                    f"golden data ({name}), expected recordings",
                    where=str(path),
                    hint="`karat show` describes it, `karat run` takes it as --golden",
                ) from error
        raise


def _golden(path: Path) -> str | None:
    try:
        return open_golden(path, plugins.formats()).format.name
    except KaratError:
        return None
