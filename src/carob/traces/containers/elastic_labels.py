"""The attributes of a span from its labels in Elasticsearch, where names must not contain dots.

Elastic's APM server stores `gen_ai.usage.input_tokens` as the label `gen_ai_usage_input_tokens`.
Which of the underscores were dots follows from the words of the conventions only.
"""

from __future__ import annotations

import re
from functools import lru_cache

from carob.schema import Json
from carob.traces.shape import as_object

_FIRST = (
    "gen_ai",
    "pydantic_ai",
    "final_result",
    "all_messages_events",
    "crew_agents",
    "crew_tasks",
    "crew_id",
    "crew_inputs",
    "crew_key",
    "raw_input",
    "request_data",
    "response_data",
    "task_id",
    "task_key",
    "from_agent",
    "to_agent",
    "agent_run",
)
"""First words that have an underscore; most names begin with a simple word."""
_ANYWHERE = (
    "aggregated_usage",
    "all_messages",
    "cache_creation",
    "cache_read",
    "cache_write",
    "cached_creation_tokens",
    "cached_input_tokens",
    "cached_prompt_tokens",
    "cached_tokens",
    "completion_details",
    "completion_tokens",
    "finish_reason",
    "finish_reasons",
    "from_agent",
    "input_tokens",
    "invocation_parameters",
    "json_schema",
    "mime_type",
    "output_tokens",
    "prompt_details",
    "prompt_template",
    "prompt_tokens",
    "reasoning_tokens",
    "system_instructions",
    "tasks_output",
    "to_agent",
    "token_count",
    "token_usage",
    "total_tokens",
    "usage_metrics",
    "usage_object",
)
_BEHIND: dict[str, tuple[str, ...]] = {
    r"calls\.\d\.": ("tool_call",),
    r"contents\.\d\.": ("tool_call", "message_content"),
    r"llm\.": ("input_messages", "output_messages", "model_name"),
    r"llm\.request\.": ("model_name",),
    r"llm\.response\.": ("model_name",),
    r"\d\.": ("tool_calls", "tool_call_id", "function_call"),
    r"message\.": ("tool_calls", "tool_call_id"),
    r"mastra\.": ("agent_run", "model_generation", "model_step", "model_inference", "tool_call"),
    r"observation\.": ("usage_details", "status_message"),
    r"logfire\.": ("span_type",),
}
"""Words that have an underscore in one place only: `gen_ai.input.messages` has none, and
`gen_ai.tool.call.id` is the id of a tool span, `….0.tool_call_id` that of the call of a message."""
_KEPT = re.compile(
    r"(?:(?:telemetry|langsmith|observation|trace)\.metadata|properties|gcp\.vertex\.agent)\.(.+)"
)
"""What follows is the name of a user's own, or written with underscores by ADK."""


def _words(words: tuple[str, ...]) -> str:
    longest_first = sorted(words, key=len, reverse=True)
    return "(?:" + "|".join(re.escape(word.replace("_", ".")) for word in longest_first) + r")\b"


_COMPOUND = re.compile(
    "|".join(
        [
            rf"^{_words(_FIRST)}",
            # First, because the longer words of other places begin like these.
            *(rf"(?<={place}){_words(words)}" for place, words in _BEHIND.items()),
            rf"(?<=\.){_words(_ANYWHERE)}",
        ]
    )
)


def read_labels(*groups: Json) -> dict[str, Json]:
    """Return the attributes that labels of text and of numbers were made from."""
    labels = [label for group in groups for label in as_object(group).items()]
    return {restore_dots(name): value for name, value in labels}


@lru_cache(maxsize=4096)
def restore_dots(label: str) -> str:
    """Return `gen_ai.usage.input_tokens` for `gen_ai_usage_input_tokens`."""
    dotted = label.replace("_", ".")
    restored = _COMPOUND.sub(lambda match: match[0].replace(".", "_"), dotted)
    if kept := _KEPT.search(dotted):
        return restored[: kept.start(1)] + label[kept.start(1) :]
    return restored
