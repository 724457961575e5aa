"""ADK's `test_config.json`: criteria by metric, each a threshold or a table that has one.

What it says about live models and simulated users concerns nothing that is scored from recordings.
"""

from __future__ import annotations

from pathlib import Path

from carob.config.choice import MetricChoice
from carob.config.config import Config
from carob.config.document import Syntax
from carob.config.table import Table
from carob.schema import Json
from carob.text.spelling import fold


class Adk:
    name = "adk"
    sought = "ADK's test_config.json has `criteria`"
    syntaxes: tuple[Syntax, ...] = ("json",)
    keys: tuple[str, ...] = (
        "criteria",
        "custom_metrics",
        "user_simulator_config",
        "live_model_config",
    )

    def read(self, table: Table, path: Path) -> Config:
        criteria, custom, _, _ = map(table.table, self.keys)
        table.text("$schema")
        table.close()
        made = {name: _definition(one) for name, one in custom.tables()} if custom else {}
        choices = _choices(criteria, made) if criteria else []
        return Config(source=str(path), dialect=self.name, metrics=tuple(choices))


def match_type(value: Json) -> Json:
    """ADK takes `in-order` for `IN_ORDER`."""
    if not isinstance(value, str):
        return value
    return value.strip().upper().replace("-", "_").replace(" ", "_")


def _definition(table: Table) -> dict[str, Json]:
    """Somebody's own metric. Its code is named, and never imported."""
    code = table.table("code_config")
    if code is None:
        raise table.missing("code_config")
    table.table("metric_info")
    table.text("description")
    table.close()
    return table.entries()


def _choices(criteria: Table, custom: dict[str, dict[str, Json]]) -> list[MetricChoice]:
    made: list[MetricChoice] = []
    for name, value in criteria.entries().items():
        table = criteria.table(name) if isinstance(value, dict) else None
        threshold = table.number("threshold") if table else criteria.number(name)
        if threshold is None:
            raise table.missing("threshold") if table else _no_threshold(criteria, name)
        made.append(
            MetricChoice(
                name=name,
                params=_params(table.rest()) if table else {},
                threshold=threshold,
                definition=custom.get(name, {}),
            )
        )
    return made


def _params(written: dict[str, Json]) -> dict[str, Json]:
    params: dict[str, Json] = {}
    for key, value in written.items():
        # Every criterion of ADK has this key, and writes its default out.
        if fold(key) == "includeintermediateresponsesinfinal" and not value:
            continue
        params[key] = match_type(value) if fold(key) == "matchtype" else value
    return params


def _no_threshold(criteria: Table, name: str) -> Exception:
    return criteria.error(name, "expected a threshold or a table that has one, got null")
