"""ADK's `test_config.json`: criteria by metric, each a threshold or a table with one.

Settings of live models are ignored: they do not affect the scores of traces.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from carob.config.config import Config, MetricChoice
from carob.config.config_file import Syntax
from carob.config.dialects.evaluators import EXECUTED, find_module
from carob.config.table_reader import Table
from carob.schema import EvaluatorSettings, Json, SimulatorSettings
from carob.text.spelling import fold_name


class Adk:
    name = "adk"
    recognized_by = "ADK's test_config.json has `criteria`"
    syntaxes: tuple[Syntax, ...] = ("json",)
    keys: tuple[str, ...] = (
        "criteria",
        "custom_metrics",
        "user_simulator_config",
        "live_model_config",
    )

    def read(self, table: Table, path: Path) -> Config:
        criteria, custom, simulator, _ = map(table.table, self.keys)
        table.text("$schema")
        table.close()
        definitions = {name: _evaluator(entry) for name, entry in custom.tables()} if custom else {}
        choices = _choices(criteria, definitions) if criteria else []
        return Config(
            source=str(path),
            dialect=self.name,
            metrics=tuple(choices),
            simulator=_simulator(simulator) if simulator else SimulatorSettings(),
        )


def _simulator(table: Table) -> SimulatorSettings:
    """Read how users are played. ADK keeps unknown keys, and so does this."""
    model, limit = table.text("model"), table.number("max_allowed_invocations")
    if limit is not None and limit != int(limit):
        message = f"expected a whole number, got {limit:g}"
        raise table.error("max_allowed_invocations", message)
    generation = table.table("model_configuration")
    settings = SimulatorSettings(
        kind=table.text("type") or "llm_backed",
        model=model,
        temperature=generation.number("temperature") if generation else None,
        max_tokens=generation.count("max_output_tokens") if generation else None,
        max_turns=None if limit is None else int(limit),
        instructions=table.text("custom_instructions"),
        with_calls=table.flag("include_function_calls") or False,
    )
    ignored = generation.rest() if generation else {}
    other = {**table.rest(), **({"model_configuration": ignored} if ignored else {})}
    return msgspec.structs.replace(settings, other=other)


def match_type(value: Json) -> Json:
    """Normalize a match type: ADK accepts `in-order` for `IN_ORDER`."""
    if not isinstance(value, str):
        return value
    return value.strip().upper().replace("-", "_").replace(" ", "_")


def _evaluator(table: Table) -> EvaluatorSettings:
    """Read a custom metric: a function by its dotted path. Its code is not imported here."""
    code = table.table("code_config")
    if code is None:
        raise table.missing("code_config")
    name = code.text("name")
    if name is None:
        raise code.missing("name")
    code.items("args")
    table.table("metric_info")
    table.text("description")
    table.close()
    file = find_module(name)
    if file:
        code.sensitive_file("name", file, effect=EXECUTED)
    function = code.sensitive("name", effect=EXECUTED)
    return EvaluatorSettings(kind="adk", file=file, function=function)


def _choices(criteria: Table, custom: dict[str, EvaluatorSettings]) -> list[MetricChoice]:
    choices: list[MetricChoice] = []
    for name, value in criteria.entries().items():
        table = criteria.table(name) if isinstance(value, dict) else None
        threshold = table.number("threshold") if table else criteria.number(name)
        if threshold is None:
            raise table.missing("threshold") if table else _no_threshold(criteria, name)
        choices.append(
            MetricChoice(
                name=name,
                params=_params(table.rest()) if table else {},
                threshold=threshold,
                evaluator=custom.get(name),
            )
        )
    return choices


def _params(entries: dict[str, Json]) -> dict[str, Json]:
    params: dict[str, Json] = {}
    for key, value in entries.items():
        # ADK writes this key with its default into every criterion.
        if fold_name(key) == "includeintermediateresponsesinfinal" and not value:
            continue
        params[key] = match_type(value) if fold_name(key) == "matchtype" else value
    return params


def _no_threshold(criteria: Table, name: str) -> Exception:
    return criteria.error(name, "expected a threshold or a table with one, got null")
