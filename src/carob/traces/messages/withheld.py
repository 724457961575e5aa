"""Markers that recorders write in place of content that they leave out.

A marker says that there was something, so it is neither a text nor an empty text.
"""

from __future__ import annotations

import re

from carob.schema import Json
from carob.traces.messages.message import Message
from carob.traces.shape import decode_json

_LONGEST = 48
_FIRST = frozenset("<[({_*REH\"'")
_FIRST_OR_BLANK = _FIRST | {" ", "\n"}
_WORDS = "redacted|elided|hidden|masked|filtered|omitted|withheld|removed|scrubbed|not\\ specified"
# A bare word is an answer that somebody may give; in brackets, or in capitals, it is a marker.
# Compiled on first use: most traces have no text that begins like a marker.
_MARKER = rf"""["']? (?:
        <\s* (?:\w+\s)? (?i:{_WORDS}) [^<>]* > | \[\s* (?:\w+\s)? (?i:{_WORDS}) [^\[\]]* \]
        | \(\s* (?:\w+\s)? (?i:{_WORDS}) [^()]* \) | \{{+\s* (?i:{_WORDS}) \s*\}}+
        | \[…\ ?\d+\ more\ items?\]
        | _+(?i:{_WORDS})_+ | \*+\s*(?i:{_WORDS})\s*\*+ | \*{{3,}} | REDACTED | ELIDED | HIDDEN
    ) ["']?"""


def is_withheld(text: str) -> bool:
    """Whether a text is a marker such as `<elided>`, `[REDACTED]` or `__REDACTED__`."""
    return (
        2 < len(text) <= _LONGEST
        and text[0] in _FIRST
        and re.fullmatch(_MARKER, text.strip(), re.VERBOSE) is not None
    )


def withhold(value: Json) -> Json:
    """Return the value; `None` if it is a marker, also inside of a message's content."""
    if not isinstance(value, str) or len(value) > _LONGEST or value[:1] not in _FIRST_OR_BLANK:
        return value
    if value[:2] in ('{"', '["', "{}", "[]"):  # an object or a list, which is no marker
        return value
    inner = decode_json(value)
    return None if isinstance(inner, str) and (is_withheld(inner) or is_withheld(value)) else value


def hide_markers(messages: list[Message]) -> list[Message]:
    """Return the messages; texts, arguments and results that are markers are not recorded."""
    for message in messages:
        text = message.text
        if text and text[0] in _FIRST and is_withheld(text):
            message.text, message.hidden = None, True
        for call in message.calls:
            if type(call.args) is str and is_withheld(call.args):
                call.args = None
        if message.results and any(_is_marker(result.value) for result in message.results):
            message.results = [item for item in message.results if not _is_marker(item.value)]
            message.hidden = True
    return messages


def _is_marker(value: Json) -> bool:
    return type(value) is str and is_withheld(value)
