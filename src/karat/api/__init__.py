"""The use-cases. The command line, the server and the pytest plugin call only these."""

from karat.api.answers import Answer
from karat.api.cases import Scores, Suite, check, score, suite
from karat.api.compare import ALPHA, MARGIN, compare, gate, gate_rules
from karat.api.golden import convert, json_schema, load, save, subset, summarise, validate
from karat.api.history import (
    earlier_runs,
    export_runs,
    find_document,
    find_run,
    import_runs,
    keep_run,
    label_run,
    list_runs,
    own_labels,
    prune_runs,
    recorded,
    store_place,
    verify_store,
)
from karat.api.lint import lint, lint_rules
from karat.api.metrics import metrics
from karat.api.policy import apply_policy
from karat.api.release import release
from karat.api.runs import passed, run
from karat.api.sessions import Head, Record, record, session_run, together
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
    "ALPHA",
    "MARGIN",
    "REGISTRY",
    "Answer",
    "Head",
    "Record",
    "Scores",
    "Suite",
    "apply_policy",
    "capture",
    "changelog",
    "check",
    "checkout",
    "compare",
    "convert",
    "diff",
    "earlier_runs",
    "export_runs",
    "find_document",
    "find_run",
    "gate",
    "gate_rules",
    "import_runs",
    "json_schema",
    "keep_run",
    "label_run",
    "lint",
    "lint_rules",
    "list_runs",
    "load",
    "mark_reviewed",
    "metrics",
    "own_labels",
    "passed",
    "prune_runs",
    "read_traces",
    "record",
    "recorded",
    "release",
    "release_folder",
    "review",
    "run",
    "save",
    "score",
    "session_run",
    "settings",
    "store_place",
    "subset",
    "suite",
    "summarise",
    "together",
    "understand",
    "validate",
    "verify",
    "verify_store",
    "versions",
]
