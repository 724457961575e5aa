"""`carob.toml`."""

from __future__ import annotations

from pathlib import Path

from carob.config.choice import MetricChoice
from carob.config.config import Config
from carob.config.document import Syntax
from carob.config.gate import read_gate
from carob.config.judge import read_judge
from carob.config.lint import LintChoice, read_lint
from carob.config.paths import inside, matching
from carob.config.table import Table
from carob.schema import GateRules
from carob.text.spelling import meant


class Carob:
    name = "carob"
    sought = "carob.toml has judge, [run], [metrics.NAME], [policy], [store], [lint] and [gate]"
    syntaxes: tuple[Syntax, ...] = ("toml",)
    keys: tuple[str, ...] = ("judge", "run", "metrics", "policy", "store", "lint", "gate")

    def read(self, table: Table, path: Path) -> Config:
        judge = read_judge(table)
        run, metrics, policy, store, lint, gate = map(table.table, self.keys[1:])
        table.close()
        asked = run.texts("metrics") if run else ()
        twice = next((name for name in asked if asked.count(name) > 1), None)
        if run and twice:
            raise run.error("metrics", f"metric {twice!r} is asked for twice")
        folder = path.parent
        written = metrics.tables() if metrics else ()
        settings = {name: _choice(name, one, folder) for name, one in written}
        asked = asked or tuple(settings)
        golden, traces = _inputs(run, folder) if run else (None, ())
        profile, profiles = _policy(policy, folder) if policy else (None, ())
        return Config(
            source=str(path),
            dialect=self.name,
            judge=judge,
            golden=golden,
            traces=traces,
            metrics=tuple(settings.get(name) or MetricChoice(name=name) for name in asked),
            others=tuple(settings[name] for name in settings if name not in asked),
            profile=profile,
            profiles=profiles,
            store=_store(store, folder) if store else None,
            lint=read_lint(lint) if lint else LintChoice(),
            gate=read_gate(gate, folder) if gate else GateRules(),
        )


def _choice(name: str, table: Table, folder: Path) -> MetricChoice:
    threshold, rubric = table.number("threshold"), table.text("rubric")
    for key in table.rest():
        hint = meant(key, ["threshold"])
        if hint:  # no metric has a parameter that looks like it
            raise table.error(key, f"unknown key {key!r}", hint=hint)
    return MetricChoice(
        name=name,
        params=table.rest(),
        threshold=threshold,
        rubric=None if rubric is None else inside(table, "rubric", rubric, folder),
    )


def _inputs(run: Table, folder: Path) -> tuple[str | None, tuple[str, ...]]:
    golden, traces = run.text("golden"), run.texts("traces")
    run.close()
    return (
        None if golden is None else inside(run, "golden", golden, folder),
        tuple(path for value in traces for path in matching(run, "traces", value, folder)),
    )


def _policy(policy: Table, folder: Path) -> tuple[str | None, tuple[str, ...]]:
    profile, profiles = policy.text("profile"), policy.texts("profiles")
    policy.close()
    if profile is not None and profile.endswith((".toml", ".json")):
        profile = inside(policy, "profile", profile, folder)
    return profile, tuple(inside(policy, "profiles", value, folder) for value in profiles)


def _store(store: Table, folder: Path) -> str | None:
    path = store.text("path")
    store.close()
    return None if path is None else inside(store, "path", path, folder)
