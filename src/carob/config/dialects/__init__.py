"""One file per config dialect."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from carob.config.config import Config
from carob.config.config_file import Syntax
from carob.config.table_reader import Table


class Dialect(Protocol):
    """A config format of Carob or of another tool."""

    name: str
    recognized_by: str
    """A description of the dialect, for errors."""
    syntaxes: tuple[Syntax, ...]
    keys: tuple[str, ...]
    """The top-level keys that identify the dialect."""

    def read(self, table: Table, path: Path) -> Config:
        """Return the config. Raises `FormatError` with the location of the problem."""
        ...
