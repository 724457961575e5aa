"""Use-cases of hygiene."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from carob import plugins
from carob.api.load import PathName, as_list
from carob.config import Config, find_config, load_config
from carob.datasets.lint import run
from carob.datasets.lint.rules import LintSettings
from carob.schema import DatasetPurpose, LintedFile, LintRule


def lint(
    paths: PathName | Iterable[PathName],
    *,
    format: str | None = None,
    ignore: Iterable[str] = (),
    use: DatasetPurpose | None = None,
    config: PathName | None = None,
    fix: bool = False,
) -> tuple[LintedFile, ...]:
    """Hold golden files against every rule, under the config that is named or the `carob.toml` that
    is here. With `fix`, personal data and secrets are masked in the files first."""
    found = Path(config) if config else find_config(Path.cwd())
    chosen = load_config(found) if found else Config(source="", dialect="carob")
    flags = run.BUILT_IN.ids(ignore)
    files = [(Path(path), _settings(Path(path), chosen, flags, use)) for path in as_list(paths)]
    return tuple(
        run.lint(path, plugins.formats(), name=format, settings=settings, fix=fix)
        for path, settings in files
    )


def lint_rules() -> tuple[LintRule, ...]:
    """Every rule for golden data."""
    return run.BUILT_IN.rules


def _settings(
    path: Path, config: Config, flags: frozenset[str], use: DatasetPurpose | None
) -> LintSettings:
    choice = config.lint
    ignored = [run.BUILT_IN.get(name, where=_at(config, "ignore")).id for name in choice.ignore]
    for pattern, names in choice.per_file_ignores.items():
        rules = [run.BUILT_IN.get(name, where=_at(config, "per_file_ignores")).id for name in names]
        if _matches(path, pattern, Path(config.source).parent):
            ignored += rules
    named = {run.BUILT_IN.get(name, where=_at(config, "levels")).id: name for name in choice.levels}
    return LintSettings(
        ignore=flags | {*ignored},
        levels={rule: choice.levels[name] for rule, name in named.items()},
        use=use or choice.use,
    )


def _at(config: Config, key: str) -> str:
    return f"{config.source}, lint.{key}"


def _matches(path: Path, pattern: str, folder: Path) -> bool:
    """Does a pattern such as `golden/*.json` stand for the file?"""
    whole, root = path.resolve(), folder.resolve()
    inner = whole.relative_to(root) if whole.is_relative_to(root) else whole
    return fnmatchcase(inner.as_posix(), pattern) or fnmatchcase(path.name, pattern)
