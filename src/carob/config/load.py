"""Load a config. The dialect is detected from its keys."""

from __future__ import annotations

from pathlib import Path

import msgspec

from carob.config.config import RUBRIC_FILES, Config
from carob.config.config_file import ConfigDocument, read_document
from carob.config.dialects import Dialect
from carob.config.dialects.adk import Adk
from carob.config.dialects.agentevals import AgentEvals
from carob.config.dialects.carob import Carob
from carob.config.dialects.definitions import Definitions
from carob.config.table_reader import Table, is_inside
from carob.config.trust import SensitiveReader, TrustCheck
from carob.errors import FormatError, UnknownFormatError
from carob.text.spelling import fold_name, nearest_name

_DIALECTS: tuple[Dialect, ...] = (Carob(), Adk(), AgentEvals(), Definitions())


def find_config(folder: Path) -> Path | None:
    """Return the `carob.toml` of a folder, if it exists. One that is no file is an error when it is
    read: settings that somebody relies on are not ignored."""
    path = folder / "carob.toml"
    return path if path.exists() or path.is_symlink() else None


def load_config(path: Path, *, trust: TrustCheck | None = None) -> Config:
    """Read a config of any dialect. Sensitive settings are withheld unless a check trusts them."""
    doc = read_document(path)
    dialect = _detect_dialect(doc)
    reader = SensitiveReader(withhold=False)
    config = dialect.read(Table(doc, doc.value, sensitive=reader), path)
    _check_rubrics(config, path.parent)
    if not reader.settings or (trust and trust(path, reader.settings)):
        return config
    # Read again instead of removing values from the config: no value can be forgotten.
    config = dialect.read(Table(doc, doc.value), path)
    return msgspec.structs.replace(config, withheld=tuple(reader.settings))


def _check_rubrics(config: Config, folder: Path) -> None:
    """Refuse rubric files outside of the folder, which a config can name as metrics."""
    ruled = (name for rule in config.serve.rules for name in rule.metrics)
    for name in (*(choice.name for choice in (*config.metrics, *config.unrequested)), *ruled):
        if name.endswith(RUBRIC_FILES) and not is_inside(folder / name, folder):
            message = f"{name!r} is outside of the folder of the config"
            hint = "pass it on the command line instead"
            raise FormatError(message, where=config.source, hint=hint)


def _detect_dialect(doc: ConfigDocument) -> Dialect:
    """Detect the dialect by syntax, then by keys, then by similar keys.

    The last step lets the dialect report a misspelled key, instead of an unknown file.
    """
    candidates = [dialect for dialect in _DIALECTS if doc.syntax in dialect.syntaxes]
    if len(candidates) == 1:
        return candidates[0]
    for dialect in candidates:
        if {*map(fold_name, doc.value)} & {*map(fold_name, dialect.keys)}:
            return dialect
    for dialect in candidates:
        if any(nearest_name(key, dialect.keys) for key in doc.value):
            return dialect
    hint = "; ".join(dialect.recognized_by for dialect in _DIALECTS)
    raise UnknownFormatError("unknown config format", where=doc.source, hint=hint)
