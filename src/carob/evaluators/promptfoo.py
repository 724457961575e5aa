"""What promptfoo passes to `python` and `javascript` assertions: the output, and a context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carob.schema import Case, Json, Span, Trace

_STATUS = {"unset": 0, "ok": 1, "error": 2}


def assertion_input(config: dict[str, Json], case: Case, trace: Trace) -> dict[str, Any]:
    """Return the arguments of an assertion."""
    turn = trace.turns[-1] if trace.turns else None
    prompt = turn.user if turn else None
    doc = case.origin.doc if case.origin and case.origin.format.startswith("promptfoo") else None
    test = dict(doc) if isinstance(doc, Mapping) else {}
    variables = test.get("vars")
    if not isinstance(variables, dict):
        variables = {"prompt": prompt}
    usage = trace.usage
    return {
        "output": (turn.response if turn else None) or "",
        "context": {
            "prompt": prompt,
            "vars": variables,
            "test": test or {"vars": variables, "description": case.id},
            "logProbs": None,
            "config": config,
            "provider": {"id": trace.models[0] if trace.models else None},
            "providerResponse": {
                "output": turn.response if turn else None,
                "tokenUsage": {
                    "prompt": usage.input_tokens,
                    "completion": usage.output_tokens,
                    "total": usage.total_tokens,
                },
            },
            "trace": {
                "traceId": trace.spans[0].trace_id if trace.spans else trace.id,
                "spans": [_span(span) for span in trace.spans],
            },
            "metadata": dict(case.metadata),
        },
    }


def _span(span: Span) -> dict[str, Any]:
    return {
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "startTime": None if span.start is None else span.start / 1e6,
        "endTime": None if span.end is None else span.end / 1e6,
        "attributes": span.attributes,
        "statusCode": _STATUS[span.status],
    }
