"""The use-cases. The command line, the server and the pytest plugin call only these.

Each is imported when it is asked for, so that a command pays for nothing but itself. No module here
has the name of a use-case: once imported, it would stand in the way of the use-case.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carob.api.answers import Answer
    from carob.api.calibrating import MIN_KAPPA, agrees, calibrate
    from carob.api.calibrations import keep_calibration
    from carob.api.cases import Scores, Suite, check, score, suite
    from carob.api.comparisons import ALPHA, MARGIN, compare, gate, gate_rules
    from carob.api.configuration import settings
    from carob.api.golden import convert, json_schema, save, subset, summarise, validate
    from carob.api.history import (
        earlier_runs,
        export_runs,
        find_document,
        find_run,
        import_runs,
        label_run,
        list_runs,
        prune_runs,
        verify_store,
    )
    from carob.api.hygiene import lint, lint_rules
    from carob.api.keeping import keep_run, own_labels, store_place
    from carob.api.loading import load
    from carob.api.locating import places
    from carob.api.measures import metrics
    from carob.api.policy import apply_policy
    from carob.api.registry import (
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
    from carob.api.releases import release
    from carob.api.runs import estimate, passed, run
    from carob.api.sessions import Head, Record, record, session_run, together
    from carob.api.traces import capture, read_traces, recorded, understand

__all__ = [
    "ALPHA",
    "MARGIN",
    "MIN_KAPPA",
    "REGISTRY",
    "Answer",
    "Head",
    "Record",
    "Scores",
    "Suite",
    "agrees",
    "apply_policy",
    "calibrate",
    "capture",
    "changelog",
    "check",
    "checkout",
    "compare",
    "convert",
    "diff",
    "earlier_runs",
    "estimate",
    "export_runs",
    "find_document",
    "find_run",
    "gate",
    "gate_rules",
    "import_runs",
    "json_schema",
    "keep_calibration",
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
    "places",
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

_HOMES = {
    "answers": {"Answer"},
    "calibrating": {"MIN_KAPPA", "agrees", "calibrate"},
    "calibrations": {"keep_calibration"},
    "cases": {"Scores", "Suite", "check", "score", "suite"},
    "comparisons": {"ALPHA", "MARGIN", "compare", "gate", "gate_rules"},
    "golden": {"convert", "json_schema", "save", "subset", "summarise", "validate"},
    "history": {
        "earlier_runs",
        "export_runs",
        "find_document",
        "find_run",
        "import_runs",
        "label_run",
        "list_runs",
        "prune_runs",
        "verify_store",
    },
    "hygiene": {"lint", "lint_rules"},
    "keeping": {"keep_run", "own_labels", "store_place"},
    "loading": {"load"},
    "locating": {"places"},
    "measures": {"metrics"},
    "policy": {"apply_policy"},
    "releases": {"release"},
    "runs": {"estimate", "passed", "run"},
    "sessions": {"Head", "Record", "record", "session_run", "together"},
    "configuration": {"settings"},
    "traces": {"capture", "read_traces", "recorded", "understand"},
    "registry": {
        "REGISTRY",
        "changelog",
        "checkout",
        "diff",
        "mark_reviewed",
        "release_folder",
        "review",
        "verify",
        "versions",
    },
}


def __getattr__(name: str) -> object:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'carob.api' has no attribute {name!r}")
    return getattr(import_module(f"carob.api.{home}"), name)
