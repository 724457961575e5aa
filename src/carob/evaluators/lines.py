"""Carob's own protocol: a JSON line for each pair, and a JSON line as the answer.

In: `{"v": 1, "metric", "config", "user", "response", "expected", "case", "trace"}`.
Out: `{"score": 0..1, "reason"}`, `{"unscored": reason}` or `{"error": message}`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from carob.schema import Case, Json, Trace


def line_input(name: str, config: dict[str, Json], case: Case, trace: Trace) -> dict[str, Any]:
    """Return the line of a pair. The texts of the last turn are repeated at the top, so that a
    short script need not look for them."""
    turn = trace.turns[-1] if trace.turns else None
    expected = case.turns[-1] if case.turns else None
    # Without the documents that both were read from, which repeat them.
    slim_case = msgspec.structs.replace(case, origin=None, recorded=None)
    slim_trace = msgspec.structs.replace(trace, spans=())
    return {
        "v": 1,
        "metric": name,
        "config": config,
        "user": turn.user if turn else None,
        "response": turn.response if turn else None,
        "expected": expected.response if expected else None,
        "case": msgspec.to_builtins(slim_case),
        "trace": msgspec.to_builtins(slim_trace),
    }
