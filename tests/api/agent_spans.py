"""Spans of a live agent, sent to the inbox of a store."""

from __future__ import annotations

import gzip
import json
import time
from typing import Any

from carob.api.serving.ingest import Ingest


def attribute(key: str, value: str) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value}}


def messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def chat(number: int, user: str, answer: str, **more: str) -> dict[str, Any]:
    """A model call in a trace of its own."""
    texts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": "support",
        "gen_ai.input.messages": messages("user", user),
        "gen_ai.output.messages": messages("assistant", answer),
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    return {
        "traceId": f"{number:032x}",
        "spanId": f"{number:016x}",
        "name": "chat",
        "startTimeUnixNano": str((1794000000 + number) * 10**9),
        "endTimeUnixNano": str((1794000001 + number) * 10**9),
        "attributes": [attribute(key, value) for key, value in texts.items()],
    }


def send(store: str, *spans: dict[str, Any], members: int = 0) -> None:
    """Ingest spans, as they are or as gzip, and wait until they are indexed."""
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).encode()
    size = len(body) // members + 1 if members else 0
    packed = b"".join(
        gzip.compress(body[start : start + size])
        for start in range(0, len(body), size or 1)
        if size
    )
    with Ingest(store) as ingest:
        stored = ingest.accept(body, "traces", "json", gzipped=packed or None).stored
        assert stored
        stored.result(30)
        end = time.monotonic() + 10
        while ingest.behind() and time.monotonic() < end:
            time.sleep(0.01)


def trace_id(number: int) -> str:
    return f"{number:032x}"
