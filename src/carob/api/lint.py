"""Lint golden data."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from carob import plugins
from carob.api.load import PathName, as_list
from carob.api.settings import NO_CONFIG
from carob.config import Config, find_config, load_config
from carob.datasets.lint import run
from carob.datasets.lint.rules import LintOptions, RuleTable
from carob.schema import DatasetPurpose, LintedFile, LintRule, Severity


def lint(
    paths: PathName | Iterable[PathName],
    *,
    format: str | None = None,
    ignore: Iterable[str] = (),
    use: DatasetPurpose | None = None,
    config: PathName | None = None,
    fix: bool = False,
) -> tuple[LintedFile, ...]:
    """Check golden files against every rule. Without a config, the `carob.toml` of the working
    directory is used if there is one. With `fix`, personal data and secrets are masked first."""
    file = Path(config) if config else find_config(Path.cwd())
    loaded = load_config(file) if file else NO_CONFIG
    rules = plugins.lint_rules()
    ignored = rules.ids(ignore)
    files = [
        (Path(path), _settings(Path(path), loaded, rules, ignored, use)) for path in as_list(paths)
    ]
    return tuple(
        run.lint(path, plugins.formats(), name=format, settings=settings, rules=rules, fix=fix)
        for path, settings in files
    )


def lint_rules() -> tuple[LintRule, ...]:
    """Return every rule for golden data."""
    return plugins.lint_rules().rules


def _settings(
    path: Path,
    config: Config,
    rules: RuleTable,
    flags: frozenset[str],
    use: DatasetPurpose | None,
) -> LintOptions:
    """Combine the flags with the config. Every rule that the config names is checked, also for
    other files, so that a misspelt name is an error at once."""
    choice = config.lint
    ignored = [rules.get(name, where=_at(config, "ignore")).id for name in choice.ignore]
    for pattern, names in choice.per_file_ignores.items():
        ids = [rules.get(name, where=_at(config, "per_file_ignores")).id for name in names]
        if _matches(path, pattern, Path(config.source).parent):
            ignored += ids
    levels: dict[str, Severity] = {
        rules.get(name, where=_at(config, "levels")).id: level
        for name, level in choice.levels.items()
    }
    return LintOptions(ignore=flags | {*ignored}, levels=levels, use=use or choice.use)


def _at(config: Config, key: str) -> str:
    return f"{config.source}, lint.{key}"


def _matches(path: Path, pattern: str, folder: Path) -> bool:
    """Return whether a pattern such as `golden/*.json` matches the file, relative to the config."""
    file, root = path.resolve(), folder.resolve()
    relative = file.relative_to(root) if file.is_relative_to(root) else file
    return fnmatchcase(relative.as_posix(), pattern) or fnmatchcase(path.name, pattern)
