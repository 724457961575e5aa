"""Metric definitions for custom judges: templates, what to fill them with, and the agents they are
for. All of it is kept for the judge that fills them, with keys that are not listed here too, unless
one looks like a misspelt one."""

from __future__ import annotations

from pathlib import Path

from carob.config.choice import MetricChoice
from carob.config.config import Config
from carob.config.document import Syntax
from carob.config.table import Table


class Definitions:
    name = "definitions"
    sought = "a metric definition file has `metrics`, each with a `template` or a managed name"
    syntaxes: tuple[Syntax, ...] = ("json",)
    keys: tuple[str, ...] = ("metrics", "metric_prefix")

    def read(self, table: Table, path: Path) -> Config:
        metrics, prefix = table.table("metrics"), table.text("metric_prefix")
        if metrics is None:
            raise table.missing("metrics")
        table.close_loosely()
        choices = (_choice(name, one, prefix) for name, one in metrics.tables(without="_comment"))
        return Config(source=str(path), dialect=self.name, metrics=tuple(choices))


def _choice(name: str, table: Table, prefix: str | None) -> MetricChoice:
    for key in ("metric_type", "template", "description"):
        table.text(key)
    table.texts("agents")
    _check_range(table)
    _check_mapping(table)
    managed = table.text("managed_metric_name")
    if table.flag("is_managed") and managed is None:
        raise table.missing("managed_metric_name")
    table.close_loosely()
    shared = {} if prefix is None else {"metric_prefix": prefix}
    return MetricChoice(name=name, definition=shared | table.entries())


def _check_range(table: Table) -> None:
    scale = table.table("score_range")
    if scale is None:
        return
    low, high = scale.number("min"), scale.number("max")
    scale.close_loosely()
    if low is None or high is None:
        raise scale.missing("max" if high is None else "min")
    if low >= high:
        raise table.error("score_range", f"from {low:g} to {high:g} is no range")


def _check_mapping(table: Table) -> None:
    mapping = table.table("dataset_mapping")
    for _, source in mapping.tables() if mapping else ():
        column, several = source.text("source_column"), source.texts("source_columns")
        if column is None and not several:
            raise source.missing("source_column")
        if several and source.text("template") is None:
            raise source.missing("template")
        source.text("transform")
        source.close_loosely()
