"""The tables of `carob.toml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import msgspec

from carob.config.config import Config, LintSettings, MetricChoice
from carob.config.config_file import Syntax
from carob.config.dialects.evaluators import read_evaluator
from carob.config.dialects.matrix import read_matrix
from carob.config.dialects.serving import read_serve
from carob.config.dialects.target_name import read_target_name
from carob.config.key_variables import is_key_variable, is_target_variable
from carob.config.table_reader import Table, expand_pattern, path_inside
from carob.files.remote import is_address
from carob.schema import DatasetPurpose, GateRules, JudgeSettings, Severity, TargetSettings
from carob.schema.judge import names_weights
from carob.schema.trust import VARIABLE_NAME
from carob.text.spelling import did_you_mean


class Carob:
    name = "carob"
    recognized_by = (
        "carob.toml has judge, target, [targets.NAME], [run], [metrics.NAME], [policy], [store],"
        " [lint], [gate], [serve], [online.NAME], [map] and [matrix.AXIS]"
    )
    syntaxes: tuple[Syntax, ...] = ("toml",)
    keys: tuple[str, ...] = (
        *("judge", "target", "targets", "run", "metrics", "policy", "store", "lint", "gate"),
        *("serve", "online", "map", "matrix"),
    )

    def read(self, table: Table, path: Path) -> Config:
        judge, target, targets = read_judge(table), read_target(table), read_targets(table)
        run, metrics, policy, store, lint, gate, serve, online, rows, matrix = map(
            table.table, self.keys[3:]
        )
        table.close()
        requested = run.texts("metrics") if run else ()
        duplicate = next((name for name in requested if requested.count(name) > 1), None)
        if run and duplicate:
            raise run.error("metrics", f"duplicate metric {duplicate!r}")
        folder = path.parent
        tables = metrics.tables() if metrics else ()
        settings = {name: _choice(name, entry, folder) for name, entry in tables}
        requested = requested or tuple(settings)
        golden, traces = _inputs(run, folder) if run else (None, ())
        profile, profiles = _policy(policy, folder) if policy else (None, ())
        return Config(
            source=str(path),
            dialect=self.name,
            judge=judge,
            target=target,
            targets=targets,
            golden=golden,
            traces=traces,
            metrics=tuple(settings.get(name) or MetricChoice(name=name) for name in requested),
            unrequested=tuple(settings[name] for name in settings if name not in requested),
            profile=profile,
            profiles=profiles,
            store=_store(store, folder) if store else None,
            lint=read_lint(lint) if lint else LintSettings(),
            gate=read_gate(gate, folder) if gate else GateRules(),
            serve=read_serve(serve, online),
            mapping={name: rows.text(name) or "" for name in rows.entries()} if rows else {},
            matrix=read_matrix(matrix, folder) if matrix else {},
        )


def _choice(name: str, table: Table, folder: Path) -> MetricChoice:
    threshold, rubric = table.number("threshold"), table.text("rubric")
    if {"code", "command"} & table.entries().keys():
        evaluator = read_evaluator(table, folder)
        return MetricChoice(
            name=name, params=table.rest(), threshold=threshold, evaluator=evaluator
        )
    for key in table.rest():
        hint = did_you_mean(key, ["threshold"])
        if hint:  # no metric has a parameter with a similar name
            raise table.error(key, f"unknown key {key!r}", hint=hint)
    return MetricChoice(
        name=name,
        params=table.rest(),
        threshold=threshold,
        rubric=None if rubric is None else path_inside(table, "rubric", rubric, folder),
    )


def _inputs(run: Table, folder: Path) -> tuple[str | None, tuple[str, ...]]:
    golden, traces = run.text("golden"), run.texts("traces")
    run.close()
    files = (path for value in traces for path in _trace_files(run, value, folder))
    if golden is None or is_address(golden):
        return golden and run.sensitive("golden", effect=_DOWNLOADED), tuple(files)
    return path_inside(run, "golden", golden, folder), tuple(files)


_DOWNLOADED = "a run reads this file with your credentials"


def _trace_files(run: Table, value: str, folder: Path) -> list[str]:
    if not is_address(value):
        return expand_pattern(run, "traces", value, folder)
    admitted = run.sensitive_value("traces", value, effect=_DOWNLOADED)
    return [] if admitted is None else [admitted]


def _policy(policy: Table, folder: Path) -> tuple[str | None, tuple[str, ...]]:
    profile, profiles = policy.text("profile"), policy.texts("profiles")
    policy.close()
    if profile is not None and profile.endswith((".toml", ".json")):
        profile = path_inside(policy, "profile", profile, folder)
    return profile, tuple(path_inside(policy, "profiles", value, folder) for value in profiles)


def _store(store: Table, folder: Path) -> str | None:
    path = store.text("path")
    store.close()
    return None if path is None else path_inside(store, "path", path, folder)


def read_judge(top: Table) -> JudgeSettings | None:
    """Read `judge`: the name of a model, or a table with its settings."""
    if isinstance(top.entries().get("judge"), dict) and (table := top.table("judge")):
        return _judge_settings(table)
    if top.text("judge") is None:
        return None
    return JudgeSettings(model=_model(top, "judge") or "")


def _judge_settings(table: Table) -> JudgeSettings:
    values = {
        "model": _model(table, "model"),
        "url": table.sensitive("url", effect="judges send prompts to this address"),
        "key_env": _key_variable(table, table.text("model")),
        "temperature": table.number("temperature"),
        "max_tokens": table.count("max_tokens"),
        "concurrency": table.count("concurrency"),
        "deadline": _positive(table, "deadline"),
        "max_calls": table.count("max_calls"),
        "max_cost": _positive(table, "max_cost"),
    }
    table.close()
    stated = {name: value for name, value in values.items() if value is not None}
    return msgspec.structs.replace(JudgeSettings(), **stated)


_ASKED = "a run executes this code, or sends the golden questions to this address"
_TARGET_URL = "a run sends the golden questions to this address"
_TARGET_KEY = "requests to the target contain the value of this environment variable"


def read_target(top: Table, key: str = "target") -> TargetSettings | None:
    """Read `target`: the name of a live agent, or a table with its settings."""
    if not isinstance(top.entries().get(key), dict):
        name = read_target_name(top, key, effect=_ASKED)
        return TargetSettings(name=name) if name else None
    table = top.table(key)
    return _target_settings(table) if table else None


def read_targets(top: Table) -> dict[str, TargetSettings]:
    """Read the `[targets.NAME]` tables. What is not trusted is listed too, without its settings."""
    table = top.table("targets")
    return {name: _read_target(table, name) for name in table.entries()} if table else {}


def _read_target(table: Table, name: str) -> TargetSettings:
    # A name with a colon would be a scheme, and one with a dot part of the name of a setting.
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):
        hint = "expected letters, digits, - and _"
        raise table.error(name, f"invalid name of a target {name!r}", hint=hint)
    value = table.entries()[name]
    if isinstance(value, dict) and "name" not in value:
        raise table.error(name, "no 'name'", hint='such as name = "python:agent.py:answer"')
    return read_target(table, name) or TargetSettings()


def _target_settings(table: Table) -> TargetSettings:
    headers = table.table("headers")
    values = {
        "name": read_target_name(table, "name", effect=_ASKED),
        "url": table.sensitive("url", effect=_TARGET_URL),
        "key_env": _target_variable(table, "key_env"),
        "headers": _header_variables(headers) if headers else None,
        # What options mean depends on the target: one of them may be an address.
        "options": table.sensitive_table("options", effect="settings of the target"),
        "turn_timeout": _positive(table, "turn_timeout"),
        "case_timeout": _positive(table, "case_timeout"),
        "concurrency": table.count("concurrency"),
        "retry": table.flag("retry"),
    }
    table.close()
    stated = {name: value for name, value in values.items() if value is not None}
    return msgspec.structs.replace(TargetSettings(), **stated)


def _header_variables(table: Table) -> dict[str, str]:
    """Read which environment variable holds the value of each header."""
    variables = {name: _target_variable(table, name) for name in table.entries()}
    return {name: variable for name, variable in variables.items() if variable is not None}


def _target_variable(table: Table, name: str) -> str | None:
    variable = table.text(name)
    if variable is not None and not is_target_variable(variable):
        hint = "pass it with --target-key-env or --target-header, or rename it to CAROB_…"
        message = f"{_shown_variable(variable)} is not a variable for the key of an agent"
        raise table.error(name, message, hint=hint)
    return table.sensitive(name, effect=_TARGET_KEY)


def _model(table: Table, name: str) -> str | None:
    model = table.text(name)
    if model is None or not names_weights(model):
        return model
    file = model.partition(":")[2]
    return table.sensitive(name, effect="native code loads this file as a model", file=file)


def _key_variable(table: Table, model: str | None) -> str | None:
    variable = table.text("key_env")
    if variable is not None and not is_key_variable(variable, model):
        expected = f"a key of {model.partition(':')[0]}" if model else "the key of a judge"
        hint = "pass it with --judge-key-env, or rename it to CAROB_…"
        raise table.error(
            "key_env", f"{_shown_variable(variable)} is not a variable for {expected}", hint=hint
        )
    return table.sensitive("key_env", effect="judges send the value of this environment variable")


def _shown_variable(variable: str) -> str:
    """The name of a variable, unless it looks like a key that somebody pasted instead."""
    return repr(variable) if VARIABLE_NAME.fullmatch(variable) else "the value"


def _positive(table: Table, name: str) -> float | None:
    value = table.number(name)
    if value is not None and value <= 0:
        raise table.error(name, f"expected a number above 0, got {value:g}")
    return value


def read_gate(table: Table, folder: Path) -> GateRules:
    """Read the table `[gate]`."""
    baseline, quarantine = table.text("baseline"), table.text("quarantine")
    if baseline is not None and baseline.endswith(".json"):
        baseline = path_inside(table, "baseline", baseline, folder)
    rules = GateRules(
        baseline=baseline,
        margin=table.number("margin"),
        margins=_number_table(table.table("margins")),
        alpha=table.number("alpha"),
        metrics=table.texts("metrics"),
        thresholds=_number_table(table.table("thresholds")),
        min_pass_rate=table.number("min_pass_rate"),
        strict=table.flag("strict") or False,
        allow_unscored=table.flag("allow_unscored") or False,
        require_calibration=table.flag("require_calibration") or False,
        min_kappa=table.number("min_kappa"),
        calibrations=tuple(
            path
            for value in table.texts("calibrations")
            for path in expand_pattern(table, "calibrations", value, folder)
        ),
        quarantine=quarantine and path_inside(table, "quarantine", quarantine, folder),
    )
    table.close()
    return rules


def _number_table(table: Table | None) -> dict[str, float]:
    if table is None:
        return {}
    numbers = {name: table.number(name) for name in table.entries()}
    return {name: value for name, value in numbers.items() if value is not None}


_LEVELS = ("error", "warning", "note")
_USES = ("development", "pre-release", "regression", "production")


def read_lint(table: Table) -> LintSettings:
    """Read the table `[lint]`."""
    ignore, use = table.texts("ignore"), _one_of(table, "use", _USES)
    tags, region = table.texts("tags"), table.text("region")
    if region is not None and not re.fullmatch("[A-Z]{2}", region):
        hint = "expected two capital letters, such as DE"
        raise table.error("region", f"invalid country code {region!r}", hint=hint)
    levels, files = table.table("levels"), table.table("per_file_ignores")
    table.close()
    return LintSettings(
        ignore=ignore,
        levels={name: _level(levels, name) for name in levels.entries()} if levels else {},
        per_file_ignores={name: files.texts(name) for name in files.entries()} if files else {},
        use=cast("DatasetPurpose | None", use),
        tags=tags,
        region=region,
    )


def _level(table: Table, name: str) -> Severity:
    return cast("Severity", _one_of(table, name, _LEVELS) or "error")


def _one_of(table: Table, name: str, words: tuple[str, ...]) -> str | None:
    word = table.text(name)
    if word is None or word in words:
        return word
    hint = did_you_mean(word, words) or f"expected one of: {', '.join(words)}"
    raise table.error(name, f"invalid value {word!r}", hint=hint)
