"""Inspect: evaluation logs, and the samples of an `.eval` archive, which has a file for each."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import instant
from carob.traces.shape import as_object, as_text, first_value, objects_in

_ATTACHED = "attachment://"
_SAMPLE = frozenset(("id", "epoch", "input", "messages"))


class InspectLog:
    """A log with an `eval` and `samples`, or a sample."""

    name = "inspect"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if isinstance(fields.get("messages"), list) and fields.keys() >= _SAMPLE:
            return True
        return isinstance(fields.get("eval"), dict) and fields.keys() >= {"version", "status"}

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        samples = objects_in(fields.get("samples")) if "eval" in fields else [fields]
        for sample in samples:
            if isinstance(sample.get("messages"), list):
                yield _read_sample(sample, source)


def _read_sample(sample: dict[str, Json], source: str) -> Trace:
    builder = TurnBuilder()
    attachments = as_object(sample.get("attachments"))
    for message in objects_in(sample.get("messages")):
        add_chat_message(builder, _read_message(message, attachments))
    for model, counts in as_object(sample.get("model_usage")).items():
        if usage := _usage(counts):
            builder.add_model_call(ModelCall(model=model, usage=usage))
    if error := as_text(as_object(sample.get("error")).get("message")):
        builder.add_error(error)
    for key in ("started_at", "completed_at"):
        builder.add_time(instant(sample.get(key)))
    case, epoch = as_text(sample.get("id")) or "", as_text(sample.get("epoch")) or "1"
    return Trace(
        id=as_text(sample.get("uuid")) or f"{case}#{epoch}",
        turns=builder.turns(),
        source=source,
        convention="inspect",
        mapper="inspect@1",
        case=case or None,
        attributes={key: sample[key] for key in ("epoch", "scores") if sample.get(key)},
    )


def _read_message(message: dict[str, Json], attachments: dict[str, Json]) -> dict[str, Json]:
    calls: list[Json] = [
        {"id": call.get("id"), "name": call.get("function"), "arguments": call.get("arguments")}
        for call in objects_in(message.get("tool_calls"))
    ]
    error = as_object(message.get("error"))
    # The ids and usages of messages are not those of calls: the sample counts its tokens.
    return {
        "role": message.get("role"),
        "content": error.get("message") or _attach(message.get("content"), attachments),
        "tool_calls": calls,
        "tool_call_id": message.get("tool_call_id"),
        "name": message.get("function"),
        "is_error": bool(error),
    }


def _attach(content: Json, attachments: dict[str, Json]) -> Json:
    """The content with long texts in their places: the log keeps them beside the messages."""
    if isinstance(content, str) and content.startswith(_ATTACHED):
        return first_value(attachments, content.removeprefix(_ATTACHED)) or content
    if isinstance(content, list):
        return [_attach(block, attachments) for block in content]
    if isinstance(content, dict) and "text" in content:
        return content | {"text": _attach(content["text"], attachments)}
    return content


def _usage(counts: Json) -> Usage | None:
    fields = as_object(counts)
    names = {
        "input_tokens_cache_read": "cache_read_input_tokens",
        "input_tokens_cache_write": "cache_creation_input_tokens",
    }
    return usage_of({names.get(key, key): value for key, value in fields.items()})
