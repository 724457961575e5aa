"""One file per dialect in which a run can be configured."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from carob.config.config import Config
from carob.config.document import Syntax
from carob.config.table import Table


class Dialect(Protocol):
    """A way to write a config."""

    name: str
    sought: str
    """What a file of the dialect looks like, in words."""
    syntaxes: tuple[Syntax, ...]
    keys: tuple[str, ...]
    """The keys on top by which a file of the dialect is known."""

    def read(self, table: Table, path: Path) -> Config:
        """The config; every mistake is an error that names its place."""
        ...
