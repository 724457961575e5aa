"""`judge` of `carob.toml`: the name of a model, or a table of it and how it is asked."""

from __future__ import annotations

import msgspec

from carob.config.table import Table
from carob.schema import JudgeChoice


def read_judge(top: Table) -> JudgeChoice | None:
    """The judge of all metrics that do not name their own."""
    if isinstance(top.entries().get("judge"), dict) and (table := top.table("judge")):
        return _choice(table)
    model = top.text("judge")
    return None if model is None else JudgeChoice(model=model)


def _choice(table: Table) -> JudgeChoice:
    given = {
        "model": table.text("model"),
        "url": table.text("url"),
        "key_env": table.text("key_env"),
        "temperature": table.number("temperature"),
        "max_tokens": table.count("max_tokens"),
        "concurrency": table.count("concurrency"),
        "deadline": _positive(table, "deadline"),
        "max_calls": table.count("max_calls"),
        "max_cost": _positive(table, "max_cost"),
    }
    table.close()
    stated = {name: value for name, value in given.items() if value is not None}
    return msgspec.structs.replace(JudgeChoice(), **stated)


def _positive(table: Table, name: str) -> float | None:
    value = table.number(name)
    if value is not None and value <= 0:
        raise table.error(name, f"expected a number above 0, got {value:g}")
    return value
