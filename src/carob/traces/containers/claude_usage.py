"""The token counts of Claude Code's messages, each counted once.

Sessions repeat the counts of a message on each of its lines, and a line that is written early has
too few. The stream that `--output-format stream-json` prints has the counts of the moment when each
answer began, with hardly any output, and leaves out some answers of sub-agents. The `result` at its
end has the totals of each model.
"""

from __future__ import annotations

from collections.abc import Sequence

from carob.schema import Json
from carob.traces.shape import as_count, as_object, as_text

_COUNTS = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheCreationInputTokens": "cache_creation_input_tokens",
}
"""The counts of a result, and their names in a message."""


def count_messages(lines: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Return the counts of each message by its id, as Anthropic's API writes them."""
    counts: dict[str, Json] = {}
    streamed: dict[str, list[str]] = {}
    totals: dict[str, int] = {}
    for line in lines:
        message = as_object(line.get("message"))
        if (key := message_id(line)) and message.get("usage") is not None:
            counts[key] = message["usage"]
            if "session_id" in line:
                counts[key] = as_object(counts[key]) | {"output_tokens": None}
                keys = streamed.setdefault(as_text(message.get("model")) or "", [])
                keys += [] if key in keys[-1:] else [key]
        elif line.get("type") == "result":
            for model, spent in _spent_since(line, totals).items():
                _divide(spent, streamed.pop(model, []), counts)
            streamed = {}
    return counts


def message_id(line: dict[str, Json]) -> str | None:
    """Return the id of a model's message; `None` for any other line."""
    if line.get("type") != "assistant":
        return None
    return as_text(as_object(line.get("message")).get("id")) or as_text(line.get("requestId"))


def _spent_since(line: dict[str, Json], totals: dict[str, int]) -> dict[str, dict[str, int]]:
    """The counts of each model since the result before; Claude Code adds up all of the process."""
    spent: dict[str, dict[str, int]] = {}
    for name, usage in as_object(line.get("modelUsage")).items():
        model = name.partition("[")[0]  # `opus[1m]` is opus with a larger window
        counts = spent.setdefault(model, {})
        for key, renamed in _COUNTS.items():
            total = as_count(as_object(usage).get(key)) or 0
            counts[renamed] = total - totals.get(f"{name} {key}", 0)
            totals[f"{name} {key}"] = total
    return spent


def _divide(spent: dict[str, int], keys: list[str], counts: dict[str, Json]) -> None:
    """Make the counts of a model's messages add up to what it spent.

    The output of each message is unknown, and some messages are missing: both count with the last.
    """
    rest = dict(spent)
    for key in keys[:-1]:
        message = as_object(counts[key]) | {"output_tokens": 0}
        rest = {name: number - (as_count(message.get(name)) or 0) for name, number in rest.items()}
        counts[key] = message
    if keys:
        counts[keys[-1]] = {**rest}
