"""Synthetic traces and their golden cases, readable by Carob and by agentevals alike.

OTLP JSON lines with GenAI attributes, one trace per line: model and tool calls in turn.
Many traces share one golden case, as when a suite is repeated; every seventh trace has a wrong
argument and a different answer.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.data import kept

_SECOND = 10**9
_START = 1_780_000_000 * _SECOND
_LISTED = (
    "order delivery invoice refund parcel customer address payment return warranty replacement "
    "tracking status number please confirm within days business account email the of a to is for"
)
_WORDS = _LISTED.split()
_TOOLS = ("find_order", "track_parcel", "read_policy", "open_ticket", "send_email")
CASES = 50
"""Golden cases that traces share unless told otherwise."""


def synthetic_traces(name: str, *, traces: int, tools: int, words: int, cases: int = CASES) -> Path:
    """A file of traces, each with this many tool calls and words per tool result."""
    return kept(f"{name}-{traces}.jsonl", lambda: _lines(traces, tools, words, cases))


def golden(name: str, *, tools: int, cases: int = CASES, edited: int = 0) -> Path:
    """The ADK EvalSet of the traces; with `edited`, every so many-th answer is another one."""
    return kept(f"{name}-golden.json", lambda: _evalset(tools, cases, edited))


def _lines(traces: int, tools: int, words: int, cases: int) -> Iterator[bytes]:
    rng = random.Random(5)  # noqa: S311 - not a secret
    for number in range(traces):
        request = _request(rng, number, number % cases, tools, words)
        yield json.dumps(request, separators=(",", ":")).encode()
        yield b"\n"


def _evalset(tools: int, cases: int, edited: int) -> Iterator[bytes]:
    yield b'{"eval_set_id": "repeats", "eval_cases": ['
    for number in range(cases):
        is_edited = bool(edited) and number % edited == 0
        case = _case(number, tools, "Reworded. " if is_edited else "")
        yield (b", " if number else b"") + json.dumps(case).encode()
    yield b"]}"


def _case(number: int, tools: int, prefix: str) -> dict[str, Any]:
    answer = prefix + _answer(number)
    return {
        "eval_id": f"case-{number}",
        "conversation": [
            {
                "invocation_id": f"inv-{number}",
                "user_content": {"role": "user", "parts": [{"text": _question(number)}]},
                "final_response": {"role": "model", "parts": [{"text": answer}]},
                "intermediate_data": {"tool_uses": [_call(number, step) for step in range(tools)]},
            }
        ],
    }


def _question(case: int) -> str:
    return f"Question {case}: {_text(case, 18)}"


def _answer(case: int) -> str:
    return _text(case + 1000, 45)


def _call(case: int, step: int) -> dict[str, Any]:
    args = {"order_id": f"A-{case}-{step}", "reason": _text(case + step, 5)}
    return {"name": _TOOLS[step % len(_TOOLS)], "args": args}


def _text(seed: int, words: int) -> str:
    return " ".join(random.Random(seed).choices(_WORDS, k=words)).capitalize() + "."  # noqa: S311


def _request(rng: random.Random, number: int, case: int, tools: int, words: int) -> dict[str, Any]:
    resource = {"attributes": _pairs({"service.name": "shop-assistant", "host.name": "node-3"})}
    scope = {"name": "shop", "version": "1.0.0"}
    spans = list(_spans(rng, number, case, tools, words))
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]
    }


def _spans(
    rng: random.Random, number: int, case: int, tools: int, words: int
) -> Iterator[dict[str, Any]]:
    wrong = number % 7 == 0
    trace, root = f"{rng.getrandbits(128):032x}", f"{rng.getrandbits(64):016x}"
    start = _START + number * 600 * _SECOND
    user = _message("user", {"type": "text", "content": _question(case)})
    answer = _text(number, 40) if wrong else _answer(case)
    final = _message("assistant", {"type": "text", "content": answer})
    yield _span(trace, root, "", start, 4 * tools + 3, _agent([user], [final], number))
    history = [user]
    for step in range(tools):
        begin = start + (4 * step + 1) * _SECOND
        call: dict[str, Any] = {**_call(case, step), "id": f"call_{_id(rng)}"}
        if wrong and step == 0:
            call["args"] = {**call["args"], "order_id": "A-0"}
        result = " ".join(rng.choices(_WORDS, k=words))
        asked = {"type": "tool_call", "id": call["id"], "name": call["name"]}
        said = _message("assistant", {**asked, "arguments": call["args"]})
        yield _span(trace, _id(rng), root, begin, 1, _model(history, [said], number))
        yield _span(trace, _id(rng), root, begin + 2 * _SECOND, 1, _tool(call, result))
        given = {"type": "tool_call_response", "id": call["id"], "response": result}
        history = [user, said, _message("tool", given)]
    begin = start + (4 * tools + 1) * _SECOND
    yield _span(trace, _id(rng), root, begin, 1, _model(history, [final], number))


def _id(rng: random.Random) -> str:
    return f"{rng.getrandbits(64):016x}"


def _message(role: str, part: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "parts": [part]}


def _agent(asked: list[Any], said: list[Any], number: int) -> dict[str, str | int]:
    return {
        "span.name": "invoke_agent shop_assistant",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shop_assistant",
        "gen_ai.conversation.id": f"session-{number}",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(said),
    }


def _model(asked: list[Any], said: list[Any], number: int) -> dict[str, str | int]:
    return {
        "span.name": "chat gpt-4o",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o",
        "gen_ai.conversation.id": f"session-{number}",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(said),
        "gen_ai.usage.input_tokens": 812,
        "gen_ai.usage.output_tokens": 64,
    }


def _tool(call: dict[str, Any], result: str) -> dict[str, str | int]:
    return {
        "span.name": f"execute_tool {call['name']}",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call["name"],
        "gen_ai.tool.call.id": call["id"],
        "gen_ai.tool.call.arguments": json.dumps(call["args"]),
        "gen_ai.tool.call.result": result,
    }


def _span(
    trace: str, span: str, parent: str, start: int, seconds: int, attributes: dict[str, str | int]
) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": span,
        "parentSpanId": parent,
        "name": attributes.pop("span.name"),
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + seconds * _SECOND),
        "attributes": _pairs(attributes),
        "status": {"code": 1},
    }


def _pairs(attributes: dict[str, str | int]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "value": {"intValue": str(held)} if isinstance(held, int) else {"stringValue": held},
        }
        for key, held in attributes.items()
    ]
