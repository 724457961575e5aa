"""Folders that are passed where files are expected."""

from __future__ import annotations

from pathlib import Path

from carob.errors import InputError


def files_in(folder: Path) -> list[Path]:
    """The visible files of a folder by name, without those of its subfolders."""
    try:
        entries = sorted(folder.iterdir())
        return [entry for entry in entries if entry.is_file() and not entry.name.startswith(".")]
    except OSError as error:
        message = f"cannot be read: {error.strerror or error}"
        raise InputError(message, where=str(folder)) from error
