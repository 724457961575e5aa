"""OpenAI's Responses API: one response as the API returns it.

A response does not repeat its input, so the user's words are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Usage
from carob.traces.messages.chat import add_chat_message
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import as_object, as_text, objects_in


class Responses:
    """An object of the kind `response` with a list of output items."""

    name = "responses"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        return fields.get("object") == "response" and isinstance(fields.get("output"), list)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        fields = as_object(item)
        builder = TurnBuilder()
        for output in objects_in(fields.get("output")):
            add_chat_message(builder, output)
        usage = usage_of(fields.get("usage")) or Usage()
        model = as_text(fields.get("model"))
        builder.add_model_call(ModelCall(model=model, usage=usage))
        builder.add_time(instant(fields.get("created_at")))
        if error := as_text(as_object(fields.get("error")).get("message")):
            builder.add_error(error)
        yield Trace(
            id=as_text(fields.get("id")) or content_digest_id(item),
            turns=builder.turns(),
            source=source,
            convention="responses",
            mapper="responses@1",
            conversation=as_text(as_object(fields.get("conversation")).get("id")),
        )
