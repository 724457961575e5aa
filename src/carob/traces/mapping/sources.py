"""The places in a span where messages may be, and how to read them from there."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import NamedTuple

from carob.schema import Span
from carob.traces.messages import numbered_attributes
from carob.traces.messages.message import Message, Role
from carob.traces.messages.read import read_last_message, read_messages
from carob.traces.normalize import DROPPED
from carob.traces.shape import to_text


class MessageSource(NamedTuple):
    """A place where messages may be, and how to read them from there."""

    key: str
    read: Callable[[Span], list[Message] | None]
    read_last: Callable[[Span, Role], list[Message] | None] | None = None
    """The same, reading no more than the last text of a role needs."""
    attributes: tuple[str, ...] = ()
    """Attributes of which at least one must be present; none for events."""

    def may_exist(self, attributes: Container[str]) -> bool:
        """Whether there may be anything to read in a span with these attributes."""
        return (
            not self.attributes
            or self.key in attributes
            or any(key in attributes for key in self.attributes)
        )


_NULLS = (None, "null")


def messages_in(key: str, role: Role) -> MessageSource:
    """Messages, or a bare text of the given role, in one attribute; none if it is JSON's null."""

    def read(span: Span) -> list[Message] | None:
        value = span.attributes.get(key)
        return None if value in _NULLS else read_messages(value, role)

    def read_last(span: Span, text_role: Role) -> list[Message] | None:
        value = span.attributes.get(key)
        return None if value in _NULLS else read_last_message(value, role, text_role)

    return MessageSource(key, read, read_last, (key,))


def messages_under(prefix: str, layout: numbered_attributes.Layout) -> MessageSource:
    """Messages spread over numbered attributes."""

    def read(span: Span) -> list[Message] | None:
        return numbered_attributes.read_numbered(span.attributes, prefix, layout)

    def read_last(span: Span, text_role: Role) -> list[Message] | None:
        return numbered_attributes.read_last_numbered(span.attributes, prefix, layout, text_role)

    first_keys = numbered_attributes.first_message_keys(prefix, layout)
    return MessageSource(prefix, read, read_last, (*first_keys, DROPPED))


def text_in(key: str, role: Role) -> MessageSource:
    """A text in one attribute, which stays a text even if it looks like JSON."""

    def read(span: Span) -> list[Message] | None:
        value = span.attributes.get(key)
        return [Message(role, to_text(value))] if value is not None else None

    return MessageSource(key, read, None, (key,))


LANGFUSE_STORED = ("langfuse.observation.input", "langfuse.observation.output")
"""Where Langfuse moves input and output, whichever convention wrote them."""
LANGFUSE_INPUT = messages_in(LANGFUSE_STORED[0], "user")
LANGFUSE_OUTPUT = messages_in(LANGFUSE_STORED[1], "assistant")
