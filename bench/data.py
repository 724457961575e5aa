"""Large golden files, created in `.bench/` on first use. Their content is deterministic."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from bench.measure import ROOT

FOLDER = ROOT / ".bench"
_WORDS = [
    "order",
    "refund",
    "parcel",
    "invoice",
    "delivery",
    "address",
    "account",
    "late",
    "broken",
    "item",
    "voucher",
    "brake",
    "tyre",
    "saddle",
    "frame",
    "warranty",
]


def evalset(invocations: int) -> Path:
    """An ADK EvalSet, five invocations to a case, each with a tool call and its response."""
    return kept(f"evalset-{invocations}.json", lambda: [_evalset(invocations)])


def explain(megabytes: int) -> Path:
    """Explain rows with recorded answers."""
    return kept(f"explain-{megabytes}.jsonl", lambda: _until(megabytes, _explain_rows()))


def answered(cases: int) -> Path:
    """The same rows without metrics or profile of their own."""
    return kept(f"answered-{cases}.jsonl", lambda: islice(_answered_rows(), cases))


def table(megabytes: int) -> Path:
    """A CSV of inputs and expected outputs."""
    return kept(f"table-{megabytes}.csv", lambda: _until(megabytes, _table_rows()))


def kept(name: str, chunks: Callable[[], Iterable[bytes]]) -> Path:
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(exist_ok=True)
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            file.writelines(chunks())
        part.rename(path)
    return path


def _until(megabytes: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    left = megabytes * 10**6
    for chunk in chunks:
        yield chunk
        left -= len(chunk)
        if left <= 0:
            return


def _text(rng: random.Random, words: int) -> str:
    return " ".join(rng.choices(_WORDS, k=words))


def _content(text: str, role: str) -> dict[str, object]:
    return {"parts": [{"text": text}], "role": role}


def _evalset(invocations: int) -> bytes:
    rng = random.Random(1)  # noqa: S311 - not a secret
    cases = [
        {
            "eval_id": f"case_{number}",
            "conversation": [_invocation(rng, number, turn) for turn in range(5)],
            "session_input": {"app_name": "support", "user_id": "customer"},
            "creation_timestamp": 1772532000.5,
        }
        for number in range(invocations // 5)
    ]
    return json.dumps({"eval_set_id": "large", "eval_cases": cases}, indent=2).encode()


def _invocation(rng: random.Random, case: int, turn: int) -> dict[str, object]:
    call = {"id": f"call_{case}_{turn}", "name": "lookup_order"}
    return {
        "invocation_id": f"inv-{case}-{turn}",
        "user_content": _content(_text(rng, 12), "user"),
        "final_response": _content(_text(rng, 30), "model"),
        "intermediate_data": {
            "tool_uses": [{**call, "args": {"order_id": f"MB-{case}", "verbose": True}}],
            "tool_responses": [{**call, "response": {"status": "shipped", "days": 3}}],
        },
        "creation_timestamp": 1772532000.5 + case,
    }


def _explain_rows() -> Iterator[bytes]:
    rng = random.Random(2)  # noqa: S311 - not a secret
    number = 0
    while True:
        number += 1
        question, answer = _text(rng, 12), _text(rng, 60)
        calls = [{"tool": "lookup_order", "arguments": {"order_id": f"MB-{number}"}}]
        row = {
            "case_id": f"orders-{number:07d}",
            "scenario_id": "order_status",
            "agent_name": "orders",
            "phase": "assessment",
            "difficulty": "easy",
            "quality_band": "good",
            "topic_family": "orders",
            "learner_level": "beginner",
            "question": question,
            "context": _text(rng, 40),
            "model_answer": answer,
            "reference_answer": _text(rng, 60),
            "task_goal": _text(rng, 10),
            "relevant_context": _text(rng, 10),
            "available_tools": ["lookup_order", "find_stock"],
            "expected_tool_calls": [{**calls[0], "reason": "the answer depends on it"}],
            "invoked_tool_calls": [{**calls[0], "outcome": "relevant"}],
            "explain_inputs": {"FluencyExplain": {"input": answer, "question": question}},
            "required_evals": ["FluencyExplain"],
            "threshold_profile": "support-standard",
            "expected_contract": "SupportAnswer",
        }
        yield json.dumps(row).encode() + b"\n"


def _answered_rows() -> Iterator[bytes]:
    for line in _explain_rows():
        row = json.loads(line) | {"required_evals": [], "threshold_profile": None}
        yield json.dumps({key: value for key, value in row.items() if value}).encode() + b"\n"


def _table_rows() -> Iterator[bytes]:
    rng = random.Random(3)  # noqa: S311 - not a secret
    yield b"Input,ExpectedOutput,Context,Tags\n"
    number = 0
    while True:
        number += 1
        line = io.StringIO()
        cells = [f"{_text(rng, 12)} {number}?", _text(rng, 40), f"{_text(rng, 20)}, as agreed"]
        csv.writer(line, lineterminator="\n").writerow([*cells, "orders;happy-path"])
        yield line.getvalue().encode()
