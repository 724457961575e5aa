"""The use-cases. The command line, the server and the pytest plugin call only these."""

from karat.api.golden import convert, json_schema, load, save, subset, summarise, validate
from karat.api.metrics import metrics
from karat.api.policy import apply_policy
from karat.api.runs import passed, run
from karat.api.settings import settings
from karat.api.traces import capture, read_traces, understand

__all__ = [
    "apply_policy",
    "capture",
    "convert",
    "json_schema",
    "load",
    "metrics",
    "passed",
    "read_traces",
    "run",
    "save",
    "settings",
    "subset",
    "summarise",
    "understand",
    "validate",
]
