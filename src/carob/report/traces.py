"""Traces as text and as JSON: turns, tool calls, usage, and the metrics that they support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from carob.report import JsonStream
from carob.report.datasets import fields_without_equivalent
from carob.report.layout import PLAIN, Block, Display, Paragraph, Preview, join_lines, status
from carob.report.problems import problem_lines
from carob.report.text import count, name_list
from carob.schema import (
    CaptureReport,
    Json,
    ToolCall,
    ToolResult,
    Trace,
    TraceEntry,
    TraceListing,
    Turn,
    Usage,
)

_WIDTH = 100
_SHOWN = 20
_TOKENS = {
    "input_tokens": "in",
    "output_tokens": "out",
    "cached_tokens": "cached",
    "reasoning_tokens": "reasoning",
    "total_tokens": "total",
}
_ABSENT = "not recorded"


def traces_document(listing: TraceListing) -> dict[str, object]:
    """Return the JSON document of `carob traces`."""
    return {"traces": JsonStream(map(_trace, listing.traces)), "problems": listing.problems}


def _trace(entry: TraceEntry) -> dict[str, object]:
    trace = entry.trace
    return {
        "id": trace.id,
        "source": trace.source,
        "convention": trace.convention,
        "agents": trace.agents,
        "turns": [_turn(turn) for turn in trace.turns],
        "state": trace.state,
        "models": trace.models,
        "usage": _usage(trace),
        "duration_ms": trace.duration_ms,
        "supports": entry.supports,
    }


def _turn(turn: Turn) -> dict[str, object]:
    calls = turn.tool_calls
    return {
        "user": turn.user,
        "response": turn.response,
        "tool_calls": None if calls is None else [_call(call) for call in calls],
        "tool_results": [_result(result) for result in turn.tool_results],
    }


def _call(call: ToolCall) -> dict[str, Json]:
    return {"id": call.id, "name": call.name, "args": call.args}


def _result(result: ToolResult) -> dict[str, Json]:
    return {
        "id": result.id,
        "name": result.name,
        "result": result.result,
        "error": result.error,
    }


def _usage(trace: Trace) -> dict[str, int | None]:
    usage = trace.usage
    counts: dict[str, int | None] = {name: getattr(usage, name) for name in _TOKENS}
    if "usage" in trace.gaps:  # a sum of those that were counted would look like the total
        return counts | {"total_tokens": None}
    sums = [_total(call.usage) for call in trace.model_calls]
    known = [number for number in sums if number is not None]
    return counts | {"total_tokens": sum(known) if known else None}


def _total(usage: Usage) -> int | None:
    """Return the recorded total of a model call, else the sum of input and output tokens."""
    if usage.total_tokens is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage.total_tokens
    return usage.input_tokens + usage.output_tokens


def format_traces(listing: TraceListing, display: Display = PLAIN) -> str:
    """Return each trace turn by turn, then the metrics they support, then the problems."""
    lines: list[Block] = []
    for entry in listing.traces[:_SHOWN]:
        lines += [*_trace_lines(entry.trace), ""]
    if len(listing.traces) > _SHOWN:
        lines += [f"and {len(listing.traces) - _SHOWN:,} more; use --format json to list all", ""]
    lines += _supported_metrics(listing)
    if listing.problems:
        lines += ["", *(line for problem in listing.problems for line in problem_lines(problem))]
    return join_lines(lines, display)


def _trace_lines(trace: Trace) -> Iterator[Block]:
    yield f"{trace.id}  ({trace.mapper or trace.convention or 'no convention'})"
    duration = trace.duration_ms
    facts = {
        "source": trace.source or "none",
        "agents": ", ".join(trace.agents) or _ABSENT,
        "models": ", ".join(trace.models) or _ABSENT,
        "tokens": _tokens(trace),
        "duration": _ABSENT if duration is None else f"{duration / 1000:,.2f} s",
        "state": _ABSENT if trace.state is None else _json_line(trace.state),
    }
    yield from (_cut(f"  {name:<10}  ", value) for name, value in facts.items())
    for number, turn in enumerate(trace.turns, 1):
        yield f"  turn {number}"
        yield from _turn_lines(turn)


def _tokens(trace: Trace) -> str:
    counts = [
        f"{tokens:,} {_TOKENS[name]}"
        for name, tokens in _usage(trace).items()
        if tokens is not None
    ]
    return ", ".join(counts) or _ABSENT


def _turn_lines(turn: Turn) -> Iterator[Block]:
    yield _cut("    user      ", _text(turn.user))
    if turn.tool_calls is None:
        yield f"    calls     {_ABSENT}"
    unmatched = list(turn.tool_results)
    for call in turn.tool_calls or ():
        result = next((result for result in unmatched if _is_result_of(result, call)), None)
        if result:
            unmatched.remove(result)
        yield from _call_lines(call, result, turn)
    for result in unmatched:
        text = f"{result.name or 'unknown tool'}: {_result_text(result)}"
        yield _cut("      result  ", text)
    if turn.error:
        yield _cut("    error     ", turn.error)
    yield _cut("    response  ", _text(turn.response))


def _call_lines(call: ToolCall, result: ToolResult | None, turn: Turn) -> Iterator[Block]:
    owner = turn.agents[0] if turn.agents else None
    nested = call.agent is not None and call.agent != owner
    indent = "      " if nested else "    "
    by = f"  by {call.agent}" if nested else ""
    yield _cut(f"{indent}calls     ", f"{call.name}({_args(call.args)}){by}")
    yield _cut(f"{indent}  → ", _ABSENT if result is None else _result_text(result))


def _is_result_of(result: ToolResult, call: ToolCall) -> bool:
    return result.id == call.id if call.id and result.id else result.name == call.name


def _result_text(result: ToolResult) -> str:
    if result.error is not None:
        return f"error: {_line(result.error)}"
    return _ABSENT if result.result is None else _json_line(result.result)


def _args(args: Json) -> str:
    if args is None:
        return f"arguments {_ABSENT}"
    if not isinstance(args, dict):
        return _json_line(args)
    return ", ".join(f"{name}={_json_line(value)}" for name, value in args.items())


def _text(message: str | None) -> str:
    if message is None:
        return _ABSENT
    return _line(message) or "(empty)"


def _line(message: str) -> str:
    # Cut before splitting: a message may be megabytes long, and only its start is shown.
    return " ".join(message[: 4 * _WIDTH].split())


def _json_line(value: Json) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError):
        return "(cannot be shown)"


def _cut(label: str, text: str) -> Preview:
    return Preview(label, text, _WIDTH - len(label))


def _supported_metrics(listing: TraceListing) -> Iterator[Block]:
    total = len(listing.traces)
    reasons: dict[str, dict[str, int]] = {}
    for entry in listing.traces:
        for metric, reason in entry.supports.items():
            counts = reasons.setdefault(metric, {})
            if reason:
                counts[reason] = counts.get(reason, 0) + 1
    supported = [metric for metric, counts in reasons.items() if not counts]
    yield (
        "metrics supported by this trace"
        if total == 1
        else f"metrics supported by all {total:,} traces"
    )
    yield from _wrap_names(supported)
    # Metrics that lack the same thing in as many traces share one line and its hints.
    unsupported: dict[tuple[str, int], list[str]] = {}
    for metric, counts in reasons.items():
        for reason, number in counts.items():
            unsupported.setdefault((reason, number), []).append(metric)
    for (reason, number), metrics in unsupported.items():
        share = "" if number == total else f" in {number:,} of {total:,} traces"
        yield f"metrics not supported{share}: {reason}"
        yield from _wrap_names(metrics)
        for hint in listing.hints.get(reason, ()):
            yield Paragraph(("  ", status("hint"), f": {hint}"), hang=4)


def _wrap_names(names: Iterable[str]) -> list[Block]:
    return [Paragraph(("  ", ", ".join(names) or "none"), hang=2)]


def format_capture(
    report: CaptureReport, path: str, display: Display = PLAIN, *, append: bool = False
) -> str:
    """Say how many cases were written, and what was skipped."""
    verb = "added" if append else "written"
    lines: list[Block] = [f"{count(report.cases, 'case')} {verb} to {path} ({report.format})"]
    if report.losses:
        fields = fields_without_equivalent(len(report.losses), report.format)
        lines.append(f"{fields}; preserved for round-tripping; use --format json to list all")
    if report.left_out:
        lines.append(f"{count(report.left_out, 'trace')} skipped by the filters")
    if report.duplicates:
        names = name_list(report.duplicates, _SHOWN)
        lines.append(f"{count(len(report.duplicates), 'duplicate trace')} skipped: {names}")
    lines += [line for problem in report.problems for line in problem_lines(problem)]
    return join_lines(lines, display)
