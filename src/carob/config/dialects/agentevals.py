"""agentevals' eval config: a list of evaluators, built in or somebody's own code.

As there, a path is relative to where the command is called. Formats of traces are recognised by
content, and the form of the output is a flag, so what the file says of both is not needed.
"""

from __future__ import annotations

from pathlib import Path

from carob.config.choice import MetricChoice
from carob.config.config import Config
from carob.config.dialects.adk import match_type
from carob.config.document import Syntax
from carob.config.paths import local
from carob.config.table import Table
from carob.schema import Json
from carob.text.spelling import meant

_RETIRED = ("metrics", "custom_evaluators", "judge_model", "threshold", "trajectory_match_type")
_OWN = {"code": ("path",), "remote": ("source", "ref")}
"""The kinds of evaluators that are code of the user's own, and where it is."""


class AgentEvals:
    name = "agentevals"
    sought = "agentevals' config has `evaluators`"
    syntaxes: tuple[Syntax, ...] = ("yaml", "json")
    keys: tuple[str, ...] = ("evaluators", "eval_set", "trace_format", "output_format", "output")

    def read(self, table: Table, path: Path) -> Config:
        choices = tuple(map(_choice, table.rows("evaluators")))
        golden, *_ = map(table.text, self.keys[1:])
        for key in table.rest():
            if key in _RETIRED:
                hint = "agentevals has retired it: say it of each metric under `evaluators`"
                raise table.error(key, f"{key!r} is no longer a key", hint=hint)
        table.close()
        names = [choice.name for choice in choices]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise table.error("evaluators", f"two evaluators are named {twice!r}")
        return Config(
            source=str(path),
            dialect=self.name,
            golden=None if golden is None else local(table, "eval_set", golden),
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
    if kind not in _OWN:
        known = ["builtin", *_OWN]
        message = f"{kind!r} is none of {', '.join(known)}"
        raise table.error("type", message, hint=meant(kind, known))
    return _own(table, name, kind, 0.5 if threshold is None else threshold)


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


def _own(table: Table, name: str, kind: str, threshold: float) -> MetricChoice:
    table.number("timeout")
    table.table("config")
    for key in ("executor", *_OWN[kind]):
        table.text(key)
    if table.text(_OWN[kind][-1]) is None:
        raise table.missing(_OWN[kind][-1])
    table.close()
    return MetricChoice(name=name, threshold=threshold, definition=table.entries())
