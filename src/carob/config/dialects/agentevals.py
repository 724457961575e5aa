"""agentevals' eval config: a list of evaluators, built-in or custom code.

As in agentevals, paths are relative to the working directory. Trace format and output format are
ignored: the first is detected from the content, and the second is a command line option.
"""

from __future__ import annotations

from pathlib import Path

from carob.config.config import Config, MetricChoice
from carob.config.config_file import Syntax
from carob.config.dialects.adk import match_type
from carob.config.dialects.evaluators import EXECUTED
from carob.config.table_reader import Table, local_path
from carob.schema import EvaluatorSettings, Json
from carob.text.spelling import did_you_mean

_RETIRED = ("metrics", "custom_evaluators", "judge_model", "threshold", "trajectory_match_type")
_CUSTOM = {"code": ("path",), "remote": ("source", "ref")}
"""The kinds of evaluators with custom code, and the keys that locate it."""


class AgentEvals:
    name = "agentevals"
    recognized_by = "agentevals' config has `evaluators`"
    syntaxes: tuple[Syntax, ...] = ("yaml", "json")
    keys: tuple[str, ...] = ("evaluators", "eval_set", "trace_format", "output_format", "output")

    def read(self, table: Table, path: Path) -> Config:
        choices = tuple(map(_choice, table.rows("evaluators")))
        golden, *_ = map(table.text, self.keys[1:])
        for key in table.rest():
            if key in _RETIRED:
                hint = "agentevals removed it: set it for each metric under `evaluators`"
                raise table.error(key, f"{key!r} is no longer supported", hint=hint)
        table.close()
        names = [choice.name for choice in choices]
        duplicate = next((name for name in names if names.count(name) > 1), None)
        if duplicate:
            raise table.error("evaluators", f"duplicate evaluator {duplicate!r}")
        return Config(
            source=str(path),
            dialect=self.name,
            golden=None if golden is None else local_path(table, "eval_set", golden),
            metrics=choices,
        )


def _choice(table: Table) -> MetricChoice:
    name, kind = table.text("name"), table.text("type")
    if not name or not kind:
        raise table.missing("type" if name else "name")
    threshold = table.number("threshold")
    if threshold is not None and not 0 <= threshold <= 1:
        raise table.error("threshold", f"expected a number from 0 to 1, got {threshold}")
    if kind == "builtin":
        return MetricChoice(name=name, params=_params(table), threshold=threshold)
    if kind not in _CUSTOM:
        kinds = ["builtin", *_CUSTOM]
        message = f"unknown type {kind!r}; expected one of: {', '.join(kinds)}"
        raise table.error("type", message, hint=did_you_mean(kind, kinds))
    return _custom(table, name, kind, 0.5 if threshold is None else threshold)


def _params(table: Table) -> dict[str, Json]:
    params: dict[str, Json] = {
        "match_type": match_type(table.text("trajectory_match_type")),
        "judge_model": table.text("judge_model"),
        "judge_base_url": table.text("judge_base_url"),
        "credential_ref": table.text("credential_ref"),
        "rubrics": list(table.items("rubrics")) or None,
    }
    table.close()
    return {key: value for key, value in params.items() if value is not None}


def _custom(table: Table, name: str, kind: str, threshold: float) -> MetricChoice:
    timeout, config = table.number("timeout"), table.table("config")
    for key in ("executor", *_CUSTOM[kind]):
        table.text(key)
    path = table.text(_CUSTOM[kind][-1])
    if path is None:
        raise table.missing(_CUSTOM[kind][-1])
    if kind == "remote":
        hint = "download it, and use `type: code` with its path"
        raise table.error("type", "evaluators are not downloaded", hint=hint)
    executor = table.text("executor")
    if executor not in (None, "local"):
        raise table.error("executor", f"expected 'local', got {executor!r}")
    if timeout is not None and timeout <= 0:
        raise table.error("timeout", f"expected a number above 0, got {timeout:g}")
    table.close()
    file = table.sensitive_file("path", path, effect=EXECUTED) or ""
    evaluator = EvaluatorSettings(
        kind="agentevals",
        file=file,
        config=config.entries() if config else {},
        threshold=threshold,
        timeout=timeout or 30.0,
    )
    return MetricChoice(name=name, threshold=threshold, evaluator=evaluator)
