"""What was understood from recordings: for a person, and as the JSON that others rely on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

import msgspec

from carob.report.text import count, printable
from carob.schema import (
    CaptureReport,
    Json,
    Problem,
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
    "total_tokens": "in all",
}
_ABSENT = "not recorded"


def document(found: TraceListing) -> dict[str, object]:
    """The JSON document of `carob traces`."""
    return {"traces": [_trace(one) for one in found.traces], "problems": found.problems}


def _trace(one: TraceEntry) -> dict[str, object]:
    trace = one.trace
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
        "supports": one.supports,
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
    sums = [_total(call.usage) for call in trace.model_calls]
    known = [number for number in sums if number is not None]
    return counts | {"total_tokens": sum(known) if known else None}


def _total(usage: Usage) -> int | None:
    """What was recorded as the total of a model call, else what went in and came out."""
    if usage.total_tokens is not None or usage.input_tokens is None or usage.output_tokens is None:
        return usage.total_tokens
    return usage.input_tokens + usage.output_tokens


def text(found: TraceListing) -> str:
    """Each recording turn by turn, then what they can support, then what was wrong."""
    lines = [line for one in found.traces[:_SHOWN] for line in (*_described(one.trace), "")]
    if len(found.traces) > _SHOWN:
        lines += [f"and {len(found.traces) - _SHOWN:,} more; all are in --format json", ""]
    lines += _sufficiency(found)
    if found.problems:
        lines += ["", *(line for problem in found.problems for line in _problem(problem))]
    return "\n".join(printable(line) for line in lines) + "\n"


def _described(trace: Trace) -> Iterator[str]:
    yield f"{trace.id}  ({trace.mapper or trace.convention or 'no convention'})"
    duration = trace.duration_ms
    about = {
        "source": trace.source or "none",
        "agents": ", ".join(trace.agents) or _ABSENT,
        "models": ", ".join(trace.models) or _ABSENT,
        "tokens": _tokens(trace),
        "duration": _ABSENT if duration is None else f"{duration / 1000:,.2f} s",
        "state": _ABSENT if trace.state is None else _one_line(trace.state),
    }
    yield from (_cut(f"  {name:<10}  {value}") for name, value in about.items())
    for number, turn in enumerate(trace.turns, 1):
        yield f"  turn {number}"
        yield from _told(turn)


def _tokens(trace: Trace) -> str:
    told = [
        f"{tokens:,} {_TOKENS[name]}"
        for name, tokens in _usage(trace).items()
        if tokens is not None
    ]
    return ", ".join(told) or _ABSENT


def _told(turn: Turn) -> Iterator[str]:
    yield _cut(f"    user      {_text(turn.user)}")
    if turn.tool_calls is None:
        yield f"    calls     {_ABSENT}"
    left = list(turn.tool_results)
    for call in turn.tool_calls or ():
        result = next((one for one in left if _answers(one, call)), None)
        if result:
            left.remove(result)
        yield from _called(call, result, turn)
    for result in left:
        yield _cut(f"      answer  {result.name or 'a tool'}: {_answer(result)}")
    if turn.error:
        yield _cut(f"    error     {_line(turn.error)}")
    yield _cut(f"    response  {_text(turn.response)}")


def _called(call: ToolCall, result: ToolResult | None, turn: Turn) -> Iterator[str]:
    owner = turn.agents[0] if turn.agents else None
    nested = call.agent is not None and call.agent != owner
    indent = "      " if nested else "    "
    by = f"  by {call.agent}" if nested else ""
    yield _cut(f"{indent}calls     {call.name}({_args(call.args)}){by}")
    answer = _ABSENT if result is None else _answer(result)
    yield _cut(f"{indent}  → {answer}")


def _answers(result: ToolResult, call: ToolCall) -> bool:
    return result.id == call.id if call.id and result.id else result.name == call.name


def _answer(result: ToolResult) -> str:
    if result.error is not None:
        return f"error: {_line(result.error)}"
    return _ABSENT if result.result is None else _one_line(result.result)


def _args(args: Json) -> str:
    if args is None:
        return f"arguments {_ABSENT}"
    if not isinstance(args, dict):
        return _one_line(args)
    return ", ".join(f"{name}={_one_line(value)}" for name, value in args.items())


def _text(said: str | None) -> str:
    if said is None:
        return _ABSENT
    return _line(said) or "(empty)"


def _line(said: str) -> str:
    return " ".join(said[: 4 * _WIDTH].split())


def _one_line(value: Json) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (UnicodeEncodeError, RecursionError, msgspec.MsgspecError):
        return "(cannot be shown)"


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _sufficiency(found: TraceListing) -> Iterator[str]:
    total = len(found.traces)
    reasons: dict[str, dict[str, int]] = {}
    for one in found.traces:
        for metric, reason in one.supports.items():
            why = reasons.setdefault(metric, {})
            if reason:
                why[reason] = why.get(reason, 0) + 1
    able = [metric for metric, why in reasons.items() if not why]
    yield f"metrics that {_all(total)} can support"
    yield from _wrapped(able)
    lacking: dict[tuple[str, int], list[str]] = {}
    for metric, why in reasons.items():
        for reason, number in why.items():
            lacking.setdefault((reason, number), []).append(metric)
    for (reason, number), metrics in lacking.items():
        some = "" if number == total else f" in {number:,} of {total:,}"
        yield f"metrics that cannot be supported{some}: {reason}"
        yield from _wrapped(metrics)
        for hint in found.hints.get(reason, ()):
            yield from textwrap.wrap(
                f"hint: {hint}", _WIDTH, initial_indent="  ", subsequent_indent="    "
            )


def _all(total: int) -> str:
    return "this recording" if total == 1 else f"all {total:,} recordings"


def _wrapped(names: Iterable[str]) -> list[str]:
    listed = ", ".join(names) or "none"
    return textwrap.wrap(listed, _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _problem(problem: Problem) -> Iterator[str]:
    yield f"{problem.severity}: {problem.where}: {problem.message}"
    if problem.hint:
        yield f"  hint: {problem.hint}"


def captured(made: CaptureReport, path: str) -> str:
    """How many cases were written, and what was not."""
    lines = [f"{count(made.cases, 'case')} written to {path} ({made.format})"]
    if made.losses:
        fields = count(len(made.losses), "field")
        lines.append(
            f"{made.format} has no place for {fields}, carried along; all are in --format json"
        )
    if made.left_out:
        lines.append(f"{count(made.left_out, 'recording')} left out by the filters")
    if made.duplicates:
        names = ", ".join(made.duplicates[:_SHOWN])
        lines.append(
            f"{count(len(made.duplicates), 'recording')} said the same as another: {names}"
        )
    lines += [line for problem in made.problems for line in _problem(problem)]
    return "\n".join(printable(line) for line in lines) + "\n"
