"""Metric definition files of custom judges: templates, their columns and their agents.

Unknown keys are kept for the judge, unless one looks like a misspelled known key.
"""

from __future__ import annotations

from pathlib import Path

from carob.config.config import Config, MetricChoice
from carob.config.config_file import Syntax
from carob.config.table_reader import Table


class Definitions:
    name = "definitions"
    recognized_by = (
        "a metric definition file has `metrics`, each with a `template` or a managed name"
    )
    syntaxes: tuple[Syntax, ...] = ("json",)
    keys: tuple[str, ...] = ("metrics", "metric_prefix")

    def read(self, table: Table, path: Path) -> Config:
        metrics, prefix = table.table("metrics"), table.text("metric_prefix")
        if metrics is None:
            raise table.missing("metrics")
        table.close_loosely()
        entries = metrics.tables(without="_comment")
        choices = (_choice(name, entry, prefix) for name, entry in entries)
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
        raise table.error("score_range", f"invalid range from {low:g} to {high:g}")


def _check_mapping(table: Table) -> None:
    mapping = table.table("dataset_mapping")
    for _, source in mapping.tables() if mapping else ():
        column, columns = source.text("source_column"), source.texts("source_columns")
        if column is None and not columns:
            raise source.missing("source_column")
        if columns and source.text("template") is None:
            raise source.missing("template")
        source.text("transform")
        source.close_loosely()
