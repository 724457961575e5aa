"""LangGraph's server: the state of a thread, and the history of its states."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace
from carob.traces.messages.chat import chat_turns, is_dialogue
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_array, as_object, as_text, decode_structure


class LangGraphState:
    """A state whose `values` hold messages, or a list of such states."""

    name = "langgraph-state"

    def claims(self, item: Json) -> bool:
        states = as_array(item) or [item]
        return all(map(_is_state, states)) and any(map(_messages, states))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        # Each state repeats the messages of the states before it: the longest has all of them.
        threads: dict[str | None, Json] = {}
        for state in as_array(item) or [item]:
            thread, messages = _thread(as_object(state)), _messages(state)
            if len(as_array(messages)) > len(as_array(threads.get(thread))):
                threads[thread] = messages
        for thread, messages in threads.items():
            yield Trace(
                id=thread or content_digest_id(messages),
                turns=chat_turns(messages),
                source=source,
                convention="langgraph",
                mapper="langgraph-state@1",
                conversation=thread,
            )


def _is_state(item: Json) -> bool:
    fields = as_object(item)
    return isinstance(fields.get("values"), dict) and ("next" in fields or "checkpoint" in fields)


def _messages(state: Json) -> Json:
    messages = decode_structure(as_object(as_object(state).get("values")).get("messages"))
    return messages if is_dialogue(messages) else None


def _thread(state: dict[str, Json]) -> str | None:
    owners = (as_object(state.get(key)) for key in ("checkpoint", "metadata"))
    return next((thread for owner in owners if (thread := as_text(owner.get("thread_id")))), None)
