"""What happened in a run, according to the script and the server; never according to a trace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from tests.captures.provider_replies import Usage
from tests.captures.scenario import UNKNOWN_TOOL, tool_outcome
from tests.captures.server import ServedCall, Session


def describe_truth(session: Session) -> list[dict[str, Any]]:
    """Return the turns of a run."""
    return [
        _describe_turn(session, number, answer) for number, answer in enumerate(session.answers)
    ]


def _describe_turn(session: Session, number: int, answer: dict[str, Any]) -> dict[str, Any]:
    served = [call for call in session.served if call.question == number]
    calls = [
        {
            "name": call.name,
            "args": call.args if call.raw is None else call.raw,
            "agent": one.reply.agent,
        }
        for one in served
        for call in one.reply.calls
    ]
    results = [result for one in served for result in _describe_results(session, one)]
    return {
        "user": session.scenario.questions[number].user,
        "response": answer["response"],
        "failed": answer["error"] is not None,
        "calls": calls,
        "results": results,
        "agents": [agent for agent, _ in groupby(call.reply.agent for call in served)],
        "models": sorted({call.model for call in served}),
        "model_calls": len(served),
        "tokens": _add_tokens(served),
    }


def _describe_results(session: Session, served: ServedCall) -> Iterator[dict[str, Any]]:
    number = session.served.index(served) + 1
    for index, call in enumerate(served.reply.calls):
        outcome = tool_outcome(call)
        text = session.results.get(f"call_{number}_{index}")
        if outcome is not None:
            value = outcome[0]
            # Some frameworks tell the model that a tool failed, but not why.
            if isinstance(value, str) and text is not None and value not in text:
                value = text
            yield {"name": call.name, "text": value, "failed": outcome[1]}
        elif text is not None and (call.raw is not None or call.name == UNKNOWN_TOOL):
            yield {"name": call.name, "text": text, "failed": True}


def _add_tokens(served: list[ServedCall]) -> dict[str, int]:
    usages = [call.usage for call in served if call.usage]
    tokens = {kind: sum(getattr(usage, kind) for usage in usages) for kind in Usage._fields}
    if not all(call.counts_reasoning for call in served):
        del tokens["reasoning"]
    return tokens if usages else {}
