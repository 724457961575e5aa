"""CrewAI, which has no convention of its own: what it tells under those that record it."""

from __future__ import annotations

import re

from carob.schema import Json, Span, Usage
from carob.traces.mapping.convention import MessageSource, first_integer, text_in
from carob.traces.messages.message import Message
from carob.traces.messages.read import read_messages
from carob.traces.shape import decode_json, parse_literal

_LIMIT = 100_000
_CALLED = re.compile(r"tool_name='([^']+)'")


def _listed(key: str) -> MessageSource:
    def read(span: Span) -> list[Message] | None:
        tasks = decode_json(span.attributes.get(key))
        if not isinstance(tasks, list):
            return None
        return _asked([task.get("description") for task in tasks if isinstance(task, dict)])

    return MessageSource(key, read, None, (key,))


def _numbered(span: Span) -> list[Message] | None:
    told: list[Json] = []
    while (key := f"crewai.crew.tasks.{len(told)}.description") in span.attributes:
        told.append(span.attributes[key])
    return _asked(told)


def _asked(told: list[Json]) -> list[Message] | None:
    """A crew is given its tasks; nobody talks to it."""
    texts = [text for text in told if isinstance(text, str)]
    return [Message("user", "\n".join(texts))] if texts else None


TASKS = (
    _listed("crew_tasks"),
    _listed("crewai.crew.tasks"),
    MessageSource("crewai.crew.tasks", _numbered, None, ("crewai.crew.tasks.0.description",)),
)


def _run(span: Span) -> list[Message] | None:
    """The messages that an agent of a crew keeps beside its answer."""
    output = decode_json(span.attributes.get("output.value"))
    listed = output.get("messages") if isinstance(output, dict) and "raw" in output else None
    return read_messages(listed, "assistant") if isinstance(listed, list) else None


RUN = MessageSource("output.value", _run, None, ("output.value",))
RESULT = text_in("crewai.crew.result", "assistant")


def usage(output: Json) -> Usage | None:
    """The tokens that a crew's output sums up."""
    found = decode_json(output)
    told = found.get("token_usage") if isinstance(found, dict) else None
    return _counted(told) if isinstance(told, dict) else None


def metrics(printed: Json) -> Usage | None:
    """The same where it is printed as a Python literal."""
    told = parse_literal(printed) if isinstance(printed, str) else None
    return _counted(told) if isinstance(told, dict) else None


def _counted(told: dict[str, Json]) -> Usage:
    return Usage(
        input_tokens=first_integer(told, ("prompt_tokens",)),
        output_tokens=first_integer(told, ("completion_tokens",)),
        cached_tokens=first_integer(told, ("cached_prompt_tokens",)),
        reasoning_tokens=first_integer(told, ("reasoning_tokens",)),
        total_tokens=first_integer(told, ("total_tokens",)),
    )


def tool_name(recorded: Json) -> str | None:
    """The tool's name in a printed `calling`."""
    match = _CALLED.search(recorded[:_LIMIT]) if isinstance(recorded, str) else None
    return match[1] if match else None
