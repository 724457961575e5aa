"""`[lint]`: which rules for golden data count, and how much."""

from __future__ import annotations

from typing import cast

from carob.config.table import Table
from carob.schema import DatasetUse, Noun, Severity
from carob.text.spelling import meant

_LEVELS = ("error", "warning", "note")
_USES = ("development", "pre-release", "regression", "production")


class LintChoice(Noun, frozen=True):
    """What a user wants of the rules, under the ids or names that the user wrote."""

    ignore: tuple[str, ...] = ()
    levels: dict[str, Severity] = {}
    per_file_ignores: dict[str, tuple[str, ...]] = {}
    """By a pattern for paths, seen from the folder of the config."""
    use: DatasetUse | None = None


def read_lint(table: Table) -> LintChoice:
    """The table `[lint]`."""
    ignore, use = table.texts("ignore"), _one_of(table, "use", _USES)
    levels, files = table.table("levels"), table.table("per_file_ignores")
    table.close()
    return LintChoice(
        ignore=ignore,
        levels={name: _level(levels, name) for name in levels.entries()} if levels else {},
        per_file_ignores={name: files.texts(name) for name in files.entries()} if files else {},
        use=cast("DatasetUse | None", use),
    )


def _level(table: Table, name: str) -> Severity:
    return cast("Severity", _one_of(table, name, _LEVELS) or "error")


def _one_of(table: Table, name: str, words: tuple[str, ...]) -> str | None:
    word = table.text(name)
    if word is None or word in words:
        return word
    hint = meant(word, words) or f"known: {', '.join(words)}"
    raise table.error(name, f"found {word!r}", hint=hint)
