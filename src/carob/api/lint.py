"""Lint golden data."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from carob import plugins
from carob.api.load import PathName, dataset_files, file_listeners, golden_formats
from carob.api.settings import NO_CONFIG
from carob.config import Config, find_config, load_config
from carob.datasets.lint.rules import NOT_CHECKED, LintOptions, RuleTable
from carob.schema import DatasetPurpose, Finding, LintedFile, LintRule, Severity
from carob.schema.problem import ProblemListener, ProgressListener
from carob.schema.problem import ignore as ignore_event


def lint(
    paths: PathName | Iterable[PathName],
    *,
    from_: str | None = None,
    ignore: Iterable[str] = (),
    use: DatasetPurpose | None = None,
    config: PathName | None = None,
    fix: bool = False,
    report: ProblemListener = ignore_event,
    progress: ProgressListener = ignore_event,
) -> tuple[LintedFile, ...]:
    """Check golden files, or those of a folder, against every rule; `report` receives the files of
    a folder that are skipped, `progress` the bytes that were checked. Without a config, the
    `carob.toml` of the working directory is used if there is one. With `fix`, personal data and
    secrets are masked first."""
    from carob.datasets.lint import run  # late: the rules are large, and a server may lint nothing

    file = Path(config) if config else find_config(Path.cwd())
    loaded = load_config(file) if file else NO_CONFIG
    rules, formats = plugins.lint_rules(), golden_formats(file)
    ignored = rules.ids(ignore)
    files = [
        (path, _settings(path, loaded, rules, ignored, use))
        for path in dataset_files(paths, report)
    ]
    listeners = file_listeners([path for path, _ in files], progress)
    return tuple(
        run.lint(
            path,
            formats,
            name=from_,
            settings=settings,
            rules=rules,
            fix=fix,
            progress=listener,
        )
        for (path, settings), listener in zip(files, listeners, strict=True)
    )


class LintErrors(NamedTuple):
    """The findings of the level `error` in a file."""

    errors: list[Finding]
    is_complete: bool
    """Whether every rule of that level could be checked."""


def lint_errors(path: Path, *, from_: str | None = None) -> LintErrors:
    """Check a golden file against the rules of the level `error`, with the `carob.toml` of the
    working directory if there is one."""
    from carob.datasets.lint import run  # late, as above

    file = find_config(Path.cwd())
    rules = plugins.lint_rules()
    settings = _settings(path, load_config(file) if file else NO_CONFIG, rules, frozenset(), None)
    minor = {
        rule.id
        for rule in rules.rules
        if settings.levels.get(rule.id, rule.level) != "error" and rule != NOT_CHECKED
    }
    settings = settings._replace(ignore=settings.ignore | minor)
    linted = run.lint(path, golden_formats(), name=from_, settings=settings, rules=rules)
    errors = [finding for finding in linted.findings if finding.level == "error"]
    unchecked = any(finding.rule == NOT_CHECKED.id for finding in linted.findings)
    return LintErrors(errors, is_complete=not unchecked)


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
    return LintOptions(
        ignore=flags | {*ignored},
        levels=levels,
        use=use or choice.use,
        tags=choice.tags,
        region=choice.region,
    )


def _at(config: Config, key: str) -> str:
    return f"{config.source}, lint.{key}"


def _matches(path: Path, pattern: str, folder: Path) -> bool:
    """Return whether a pattern such as `golden/*.json` matches the file, relative to the config."""
    file, root = path.resolve(), folder.resolve()
    relative = file.relative_to(root) if file.is_relative_to(root) else file
    return fnmatchcase(relative.as_posix(), pattern) or fnmatchcase(path.name, pattern)
