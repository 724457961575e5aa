"""Configs by content: a file says by its keys which dialect it is written in."""

from __future__ import annotations

from pathlib import Path

from karat.config import document
from karat.config.config import Config
from karat.config.dialects import Dialect
from karat.config.dialects.adk import Adk
from karat.config.dialects.agentevals import AgentEvals
from karat.config.dialects.definitions import Definitions
from karat.config.dialects.karat import Karat
from karat.config.document import Document
from karat.config.table import Table
from karat.errors import UnknownFormatError
from karat.spelling import fold, nearest

_DIALECTS: tuple[Dialect, ...] = (Karat(), Adk(), AgentEvals(), Definitions())


def find_config(folder: Path) -> Path | None:
    """The `karat.toml` of a folder."""
    path = folder / "karat.toml"
    return path if path.is_file() else None


def load_config(path: Path) -> Config:
    """Read a config of any dialect."""
    doc = document.read(path)
    return _dialect(doc).read(Table(doc, doc.value), path)


def _dialect(doc: Document) -> Dialect:
    """A syntax that only one dialect uses decides; then the keys do, and then keys that resemble
    them, so that a misspelt key is named as such."""
    fitting = [one for one in _DIALECTS if doc.syntax in one.syntaxes]
    if len(fitting) == 1:
        return fitting[0]
    for dialect in fitting:
        if {*map(fold, doc.value)} & {*map(fold, dialect.keys)}:
            return dialect
    for dialect in fitting:
        if any(nearest(key, dialect.keys) for key in doc.value):
            return dialect
    sought = "; ".join(one.sought for one in _DIALECTS)
    raise UnknownFormatError("not a config that Karat knows", where=doc.source, hint=sought)
