"""CrewAI's fields in the conventions that record it; it has no convention of its own."""

from __future__ import annotations

import re

from carob.schema import Json, Span, Usage
from carob.traces.mapping.sources import MessageSource, text_in
from carob.traces.messages.message import Message
from carob.traces.messages.printed import parse_objects
from carob.traces.messages.read import read_messages
from carob.traces.messages.usage import usage_of
from carob.traces.shape import as_object, decode_json, parse_literal, text_or_none, to_text

_LIMIT = 100_000
_ANSWER = re.compile(r"""['"]role['"]: ?['"]assistant['"]""")
"""A model's message in the recorded messages of a task, as JSON or printed."""
_TOOL_NAME = re.compile(r"tool_name='([^']+)'")


def _task_list(key: str) -> MessageSource:
    def read(span: Span) -> list[Message] | None:
        tasks = decode_json(span.attributes.get(key))
        if not isinstance(tasks, list):
            return None
        return _task_message([task.get("description") for task in tasks if isinstance(task, dict)])

    return MessageSource(key, read, None, (key,))


def _read_numbered_tasks(span: Span) -> list[Message] | None:
    tasks: list[Json] = []
    while (key := f"crewai.crew.tasks.{len(tasks)}.description") in span.attributes:
        tasks.append(span.attributes[key])
    return _task_message(tasks)


def _task_message(tasks: list[Json]) -> list[Message] | None:
    """The tasks of a crew stand in for the user's message: nobody talks to a crew."""
    texts = [text for text in tasks if isinstance(text, str)]
    return [Message("user", "\n".join(texts))] if texts else None


TASKS = (
    _task_list("crew_tasks"),
    _task_list("crewai.crew.tasks"),
    MessageSource(
        "crewai.crew.tasks", _read_numbered_tasks, None, ("crewai.crew.tasks.0.description",)
    ),
)


def _read_run(span: Span) -> list[Message] | None:
    """Read the messages that an agent of a crew keeps beside its answer."""
    output = decode_json(span.attributes.get("output.value"))
    messages = output.get("messages") if isinstance(output, dict) and "raw" in output else None
    return read_messages(messages, "assistant") if isinstance(messages, list) else None


def _read_tasks_output(span: Span) -> list[Message] | None:
    """Read the messages of a crew's tasks, which are printed with their outputs."""
    printed = span.attributes.get("crewai.crew.tasks_output")
    tasks = parse_objects(printed) if isinstance(printed, str) else None
    if not isinstance(tasks, list):
        return None
    messages: list[Message] = []
    for task in tasks:
        if not isinstance(task, dict) or not isinstance(written := task.get("messages"), list):
            return None
        read = read_messages(written, "assistant")
        _mark_failures(read, task.get("tool_failures"))
        messages += read
    return messages


def _mark_failures(messages: list[Message], failures: Json) -> None:
    """Mark the results as errors that a task lists as failures: the messages do not say so."""
    reasons = {
        (failure.get("tool_name"), text_or_none(as_object(failure.get("failure")).get("message")))
        for failure in (failures if isinstance(failures, list) else ())
        if isinstance(failure, dict)
    }
    for result in (result for message in messages for result in message.results):
        text = to_text(result.value)
        result.error = result.error or any(
            name == result.name and reason and reason in text for name, reason in reasons
        )


TASKS_OUTPUT = MessageSource(
    "crewai.crew.tasks_output", _read_tasks_output, None, ("crewai.crew.tasks_output",)
)
RUN = MessageSource("output.value", _read_run, None, ("output.value",))
RESULT = text_in("crewai.crew.result", "assistant")


def usage(output: Json) -> Usage | None:
    """Return the token counts in the output of a crew."""
    fields = decode_json(output)
    if not isinstance(fields, dict):
        return None
    counts, tasks = fields.get("token_usage"), fields.get("tasks_output")
    answers, has_tasks = _ANSWER.findall(to_text(tasks)), bool(tasks)
    return usage_of(counts) if _is_of_one_run(counts, len(answers), has_tasks) else None


def parse_usage(printed: Json, tasks_output: Json) -> Usage | None:
    """Return the token counts of a crew that are printed as a Python literal."""
    counts = parse_literal(printed) if isinstance(printed, str) else None
    answers = _ANSWER.findall(tasks_output) if isinstance(tasks_output, str) else []
    has_tasks = bool(tasks_output)
    return usage_of(counts) if _is_of_one_run(counts, len(answers), has_tasks) else None


def _is_of_one_run(counts: Json, answers: int, has_tasks: bool) -> bool:
    """Whether a crew counted only this run. Its agents count from their creation on, so the counts
    of a second run include the first; the number of requests shows it. Without messages, a single
    request can only be that of this run."""
    requests = counts.get("successful_requests") if isinstance(counts, dict) else None
    if not isinstance(requests, int) or requests == answers:
        return True
    return has_tasks and not answers and requests == 1


def tool_name(recorded: Json) -> str | None:
    """Return the tool's name in a printed `calling`."""
    match = _TOOL_NAME.search(recorded[:_LIMIT]) if isinstance(recorded, str) else None
    return match[1] if match else None
