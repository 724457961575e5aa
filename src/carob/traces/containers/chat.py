"""Chat trajectories: lists of messages, alone or within a record, such as those of tau-bench."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, ModelCall, Trace, Turn, Usage
from carob.traces.containers.foreign import is_log_event
from carob.traces.mapping.tokens import find_missing_tokens
from carob.traces.messages.chat import add_chat_message, chat_turns, is_dialogue, is_message
from carob.traces.messages.message import Message, last_answer, last_user
from carob.traces.messages.read import read_messages
from carob.traces.messages.stream_chunks import join_chunks
from carob.traces.messages.turns import TurnBuilder
from carob.traces.messages.usage import gemini_usage_of, usage_of
from carob.traces.normalize import content_digest_id, instant
from carob.traces.shape import (
    as_object,
    as_text,
    decode_structure,
    first_value,
    objects_in,
    to_text,
)

_MESSAGE_KEYS = ("messages", "traj", "conversation", "trajectory", "chat_history", "transcript",
    "dialogue", "dialog")  # fmt: skip
_REQUEST_KEYS = ("messages", "input", "contents")
"""Where the APIs of models expect messages."""
_TURNS = "turns"
"""Golden conversations have their messages here, too: only the id of a run tells them apart."""
_IDS = ("id", "trace_id", "conversation_id", "session_id", "instance_id")
_RUN_IDS = frozenset(("trace_id", "run_id", "session_id", "conversation_id", "call_id"))
_CASES = ("task_id", "case_id", "eval_id", "question_id", "instance_id")
_CONVERSATIONS = ("conversation_id", "session_id", "thread_id", "sessionId", "conversationId")
_QUESTIONS = ("query", "question", "user_input", "user_query", "user_message", "input", "prompt")
_ANSWERS = ("response", "answer", "completion", "choices", "output", "final_answer", "reply",
    "assistant_response", "agent_response")  # fmt: skip
"""What a log of requests has beside the messages that it sent, or beside those before them."""
_TIMES = (
    ("timestamp", "created_at", "time", "ts"),
    ("start_time", "startTime"),
    ("end_time", "endTime"),
)
_ATTRIBUTES = ("reward", "trial", "reward_info", "model", "tools", "metadata")


class Chat:
    """A list of chat messages, or a record around one."""

    name = "chat"

    def claims(self, item: Json) -> bool:
        if is_dialogue(item):
            return True
        fields = _fields(item)
        return "history" not in fields and not is_log_event(fields) and bool(_messages(fields))

    def claims_line(self, item: Json) -> bool:
        return is_message(item)

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        if isinstance(item, list):
            for conversation, messages in _group_by_conversation(item).items():
                turns = chat_turns([*messages])
                yield _trace({"session_id": conversation}, [*messages], turns, source)
        else:
            fields = _fields(item)
            messages = objects_in(_messages(fields))
            yield _trace(fields, [*messages], _request_turns(fields, messages), source)


def _fields(item: Json) -> dict[str, Json]:
    """The fields of a record. A proxy logs what it sent and received as two objects."""
    fields = as_object(item)
    if _messages(fields):
        return fields
    request, response = as_object(_body(fields.get("request"))), _body(fields.get("response"))
    messages = first_value(request, *_REQUEST_KEYS)
    if isinstance(messages, str) and "output" in as_object(response):  # else it may be no question
        messages = list[Json]([{"role": "user", "content": messages}])
    if messages is None:
        return fields
    return {**request, **fields, "messages": messages, "response": response}


def _body(value: Json) -> Json:
    """The body of a request or a response, with or without its headers."""
    message = decode_structure(value)
    body = as_object(message).get("body")
    return message if body is None else decode_structure(body)


def _request_turns(fields: dict[str, Json], messages: list[dict[str, Json]]) -> tuple[Turn, ...]:
    """The turns of a record: of its messages, and of what stands beside them that they lack."""
    builder = TurnBuilder()
    recorded = join_chunks(decode_structure(first_value(fields, *_ANSWERS)))
    question, answers = _beside(fields, messages, read_messages(recorded, "assistant"))
    call = _model_call(fields, as_object(recorded)) if answers else ModelCall()
    for message in messages:
        # What is counted beside an answer leaves out the calls that made the answers before it.
        add_chat_message(builder, message, every_call=call.usage != Usage())
    if error := as_object(recorded).get("error"):
        builder.add_error(as_text(as_object(error).get("message")) or to_text(error))
    if question:
        builder.add_user_text(question)
    for answer in answers:
        builder.add_message(answer)
    if answers:
        if isinstance(recorded, str):  # a text alone does not say which tools were called
            builder.mark_calls_unknown()
        for names in _TIMES:
            builder.add_time(instant(first_value(fields, *names)))
        if call != ModelCall():
            builder.add_model_call(call)
    return builder.turns()


def _beside(
    fields: dict[str, Json], messages: list[dict[str, Json]], answers: list[Message]
) -> tuple[str | None, list[Message]]:
    """The question and the answers beside the messages that they lack.

    A record with all messages may have fields of these names, too, for something else: what was
    answered in the messages is not answered again.
    """
    if not _has_answer(answers):
        return None, []
    if not _is_answered(messages):
        return None, answers
    question = last_user(read_messages(first_value(fields, *_QUESTIONS), "user"))
    if question and not _says(messages, question, last_answer(answers)):
        return question, answers
    return None, []


def _has_answer(messages: list[Message]) -> bool:
    return any(
        message.role == "assistant" and (message.text or message.calls) for message in messages
    )


def _is_answered(messages: list[dict[str, Json]]) -> bool:
    """Whether the last message is an answer."""
    last = read_messages(messages[-1], "user") if messages else []
    return bool(last) and last[-1].role == "assistant" and not last[-1].calls


def _says(messages: list[dict[str, Json]], *texts: str | None) -> bool:
    """Whether one of the texts is a part of the messages already."""
    said = [message.text or "" for item in messages for message in read_messages(item, "user")]
    return any(text.strip() in part for text in texts if text for part in said)


def _model_call(fields: dict[str, Json], response: dict[str, Json]) -> ModelCall:
    """The model call of a request, which the record itself or its response counts."""
    usage = usage_of(first_value(fields, "usage", "token_usage")) or usage_of(response.get("usage"))
    usage = usage or gemini_usage_of(first_value(response, "usageMetadata", "usage_metadata"))
    model = as_text(fields.get("model")) or as_text(first_value(response, "model", "modelVersion"))
    return ModelCall(model=model, usage=usage or Usage())


def _trace(
    fields: dict[str, Json], messages: list[Json], turns: tuple[Turn, ...], source: str
) -> Trace:
    case = as_text(first_value(fields, *_CASES))
    missing = find_missing_tokens([call for turn in turns for call in turn.model_calls])
    return Trace(
        id=_id(fields, case) or content_digest_id(messages),
        turns=turns,
        source=source,
        convention="chat",
        mapper="chat@3",
        case=case,
        conversation=_conversation(fields),
        attributes={key: fields[key] for key in _ATTRIBUTES if fields.get(key) is not None},
        gaps={} if missing is None else {"usage": missing},
    )


def _conversation(fields: dict[str, Json]) -> str | None:
    """What joins records. One with an id of its own, as of a request, is a part of its trace."""
    names = (*_CONVERSATIONS, "trace_id") if "id" in fields else _CONVERSATIONS
    return as_text(first_value(fields, *names))


def _group_by_conversation(messages: list[Json]) -> dict[str | None, list[dict[str, Json]]]:
    """The messages of each conversation; a message that names none belongs to the last one."""
    groups: dict[str | None, list[dict[str, Json]]] = {}
    current: str | None = None
    for message in objects_in(messages):
        current = as_text(first_value(message, *_CONVERSATIONS)) or current
        groups.setdefault(current, []).append(message)
    return groups


def _id(fields: dict[str, Json], case: str | None) -> str | None:
    """The record's id; trials of the same task differ by their number."""
    record_id = as_text(first_value(fields, *_IDS)) or case
    trial = as_text(fields.get("trial"))
    return f"{record_id}#{trial}" if record_id and trial and "id" not in fields else record_id


def _messages(fields: dict[str, Json]) -> Json:
    keys = _MESSAGE_KEYS if fields.keys().isdisjoint(_RUN_IDS) else (*_MESSAGE_KEYS, _TURNS)
    for key in keys:
        messages = decode_structure(fields.get(key))
        if is_dialogue(messages):
            return messages
    return None
