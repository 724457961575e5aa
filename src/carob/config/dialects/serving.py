"""The tables of `carob.toml` that a server reads: `[serve]` and `[online.NAME]`."""

from __future__ import annotations

import msgspec

from carob.config.config import OnlineRule, ServeSettings
from carob.config.table_reader import Table

_SPENDS = "the server asks judges about live sessions, for up to this many US dollars a day"


def read_serve(serve: Table | None, online: Table | None) -> ServeSettings:
    """Read the settings of a server."""
    values: dict[str, object] = {}
    if serve:
        keys = ("keep_days", "keep_gb")
        numbers = {key: _positive(serve, key) for key in keys}
        serve.close()
        values = {key: value for key, value in numbers.items() if value is not None}
    rules = tuple(_rule(name, table) for name, table in online.tables()) if online else ()
    return msgspec.structs.replace(ServeSettings(rules=rules), **values)


def _rule(name: str, table: Table) -> OnlineRule:
    metrics = table.texts("metrics")
    if not metrics:
        raise table.missing("metrics")
    sample = _share(table, "sample")
    rule = OnlineRule(
        name=name,
        metrics=metrics,
        agent=table.text("agent"),
        text=table.text("text"),
        sample=1.0 if sample is None else sample,
        golden=table.text("golden"),
        # Money that a file may spend, without anybody who starts a run, is a matter of trust.
        max_cost_per_day=table.sensitive_number("max_cost_per_day", effect=_SPENDS),
        min_pass_rate=_share(table, "min_pass_rate"),
    )
    table.close()
    return rule


def _positive(table: Table, name: str) -> float | None:
    value = table.number(name)
    if value is not None and not 0 < value < 1e9:
        raise table.error(name, f"expected a number above 0, got {value:g}")
    return value


def _share(table: Table, name: str) -> float | None:
    value = table.number(name)
    if value is not None and not 0 < value <= 1:
        raise table.error(name, f"expected a share above 0 and at most 1, got {value:g}")
    return value
