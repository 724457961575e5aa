"""Golden data where recordings are expected, and the other way round."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from carob import plugins
from carob.datasets.formats import Format
from carob.datasets.read import open_golden
from carob.errors import CarobError, InputError, UsageError


@contextmanager
def expecting_recordings(paths: Iterable[Path]) -> Generator[None]:
    """Whatever is wrong with recordings that are golden data: that is what is wrong with them."""
    try:
        yield
    except InputError as error:
        for path in paths:
            form = _format(path) if (error.where or "").startswith(str(path)) else None
            if form:
                raise InputError(
                    f"golden data ({form.name}), expected recordings",
                    where=str(path),
                    hint="`carob show` describes it, `carob run` takes it as --golden",
                ) from error
        raise


def check_replaceable(path: Path) -> None:
    """Refuse to write golden data over recordings: whoever names recordings as `traces/*` and no
    file to write names the last of them as that file."""
    if path.is_file() and path.stat().st_size:
        form = _format(path)
        if form is None or not form.writable:
            hint = "the last name is that of the file to write: give a new one"
            raise UsageError(f"{path} is there, and is no golden data to be replaced", hint=hint)


def _format(path: Path) -> Format | None:
    try:
        return open_golden(path, plugins.formats()).format
    except CarobError:
        return None
