"""The use-cases. The command line, the server and the pytest plugin call only these."""

from karat.api.golden import convert, json_schema, load, save, subset, summarise, validate
from karat.api.lint import lint, lint_rules
from karat.api.metrics import metrics
from karat.api.policy import apply_policy
from karat.api.release import release
from karat.api.runs import passed, run
from karat.api.settings import settings
from karat.api.traces import capture, read_traces, understand
from karat.api.versions import (
    REGISTRY,
    changelog,
    checkout,
    diff,
    mark_reviewed,
    release_folder,
    review,
    verify,
    versions,
)

__all__ = [
    "REGISTRY",
    "apply_policy",
    "capture",
    "changelog",
    "checkout",
    "convert",
    "diff",
    "json_schema",
    "lint",
    "lint_rules",
    "load",
    "mark_reviewed",
    "metrics",
    "passed",
    "read_traces",
    "release",
    "release_folder",
    "review",
    "run",
    "save",
    "settings",
    "subset",
    "summarise",
    "understand",
    "validate",
    "verify",
    "versions",
]
