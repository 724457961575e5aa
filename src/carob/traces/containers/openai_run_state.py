"""OpenAI Agents: the state of a run, as `RunState` writes it in Python and JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace
from carob.traces.messages.chat import add_chat_message, chat_role
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import usage_of
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_object, as_text, first_value, fold_keys, objects_in

_APPROVAL = "tool_approval_item"
"""Repeats a call that waits for an approval."""
OWN_RUN_ONLY = "the state of a run counts the tokens of its own run only"


class OpenAIRunState:
    """An object with a `$schemaVersion`, the original input and the responses of the model."""

    name = "openai-run-state"

    def claims(self, item: Json) -> bool:
        fields = as_object(item)
        if "$schemaVersion" not in fields:
            return False
        return {"originalinput", "modelresponses", "currentagent"} <= fold_keys(fields).keys()

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        state = fold_keys(as_object(item))
        builder = TurnBuilder()
        asked = state.get("originalinput")
        only: dict[str, Json] = {"role": "user", "content": asked}
        before = [only] if isinstance(asked, str) else objects_in(asked)
        for message in before:
            add_chat_message(builder, message)
        for entry in objects_in(state.get("generateditems")):
            _add_item(builder, entry)
        for response in objects_in(state.get("modelresponses")):
            _add_model_call(builder, response)
        is_continued = any(chat_role(message) == "assistant" for message in before)
        if turns := builder.turns():
            conversation = as_text(state.get("conversationid"))
            yield Trace(
                id=conversation or content_digest_id([*before, state.get("generateditems")]),
                turns=turns,
                source=source,
                convention="openai-run-state",
                mapper="openai-run-state@1",
                conversation=conversation,
                gaps={"usage": OWN_RUN_ONLY} if is_continued else {},
            )


def _add_item(builder: TurnBuilder, entry: dict[str, Json]) -> None:
    if entry.get("type") == _APPROVAL:
        return
    builder.add_agent(as_text(as_object(entry.get("agent")).get("name")))
    add_chat_message(builder, as_object(first_value(entry, "raw_item", "rawItem")))


def _add_model_call(builder: TurnBuilder, response: dict[str, Json]) -> None:
    counts = as_object(response.get("usage"))
    # The details are lists, with an item for each request.
    plain = {
        key: details[0] if isinstance(details, list) and len(details) == 1 else details
        for key, details in counts.items()
    }
    models = (
        as_text(as_object(first_value(item, "provider_data", "providerData")).get("model"))
        for item in objects_in(response.get("output"))
    )
    if usage := usage_of(plain):
        model = next((name for name in models if name), None)
        builder.add_model_call(ModelCall(model=model, usage=usage))
