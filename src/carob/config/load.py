"""Configs by content: a file says by its keys which dialect it is written in."""

from __future__ import annotations

from pathlib import Path

from carob.config import document
from carob.config.config import Config
from carob.config.dialects import Dialect
from carob.config.dialects.adk import Adk
from carob.config.dialects.agentevals import AgentEvals
from carob.config.dialects.carob import Carob
from carob.config.dialects.definitions import Definitions
from carob.config.document import Document
from carob.config.table import Table
from carob.errors import UnknownFormatError
from carob.text.spelling import fold, nearest

_DIALECTS: tuple[Dialect, ...] = (Carob(), Adk(), AgentEvals(), Definitions())


def find_config(folder: Path) -> Path | None:
    """The `carob.toml` of a folder."""
    path = folder / "carob.toml"
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
    raise UnknownFormatError("not a config that Carob knows", where=doc.source, hint=sought)
