"""Whether the tool calls of a turn are all that were made, or only all that were recorded.

No call is a claim, and it needs evidence: messages that call nothing, or a recorder that writes a
span for every tool. Where there is none, the calls are unknown.
"""

from __future__ import annotations

import re

from carob.traces.mapping.call_matching import MatchedCall
from carob.traces.mapping.turn_spans import ModelSpans, TurnSpans
from carob.traces.messages.printed import is_printed_message

NO_CALLS = "tool calls were not recorded"
_SILENT = f"{NO_CALLS}: the messages of a model call are missing"
_UNSEEN = f"{NO_CALLS}: a model requested some, but neither a message nor a span has them"
_UNNAMED = f"{NO_CALLS}: the name of a tool is missing"
_IN_TEXT = f"{NO_CALLS}: the agent calls its tools within its text"
_CALL_FINISHES = frozenset(
    ("tool_calls", "tool_call", "tool_use", "tool-calls", "function_call", "toolUse")
)
_TEXT_ACTION = re.compile(
    r"^\s*Action:\s*\S.*\n\s*Action Input:|<tool_call>|<function=|<invoke name=|<tool_use>",
    re.MULTILINE,
)
_MAX_TEXT = 20_000
"""Characters of a text that are searched for actions."""


def find_missing_calls(turn: TurnSpans, calls: list[MatchedCall]) -> str | None:
    """Return why tool calls may be missing; `None` if all of them are known."""
    if not turn.models:
        if turn.unnamed_tools:
            return _UNNAMED
        return None if calls or _has_transcript(turn) else NO_CALLS
    silent = [model for model in turn.models if not _is_recorded(model)]
    if silent and turn.unnamed_tools:
        return _UNNAMED
    if silent:
        return _explain_silence(turn, silent, calls)
    return None if calls or not any(map(_acts_in_text, turn.models)) else _IN_TEXT


def _has_transcript(turn: TurnSpans) -> bool:
    """Whether more than the last message of a run is recorded: before that, anything may have
    happened."""
    output = turn.owner.output_messages() if turn.owner else None
    if output is not None and len(output[1]) > 1:
        return True
    for owner in (turn.first_agent, turn.owner):
        run = owner.convention.transcript_messages(owner.span) if owner else None
        if run is not None and any(message.role == "assistant" for message in run[1]):
            return True
    return False


def _is_recorded(model: ModelSpans) -> bool:
    has_calls = has_content = False
    for message in model.messages:
        if message.partial:
            return False
        if message.calls:
            has_calls = True
        elif message.text is None:
            has_content = has_content or not message.hidden
        else:
            has_content = has_content or not is_printed_message(message.text)
    return has_calls or (has_content and not _has_requested_calls(model))


def _explain_silence(
    turn: TurnSpans, silent: list[ModelSpans], calls: list[MatchedCall]
) -> str | None:
    """Look for other evidence of what models without recorded messages did.

    A model that calls no tool ends the run of its agent. So a silent call that is followed by
    another one of its agent must have requested something, which must be there as well.
    """
    last = {id(model.outer.context.agent): model for model in turn.models}
    answering = turn.main_models[-1:]
    for model in silent:
        if model.outer.span.status == "error" and model.outer.is_leaf:
            continue  # what failed requested nothing: the SDK tried again
        requested = _has_requested_calls(model)
        is_last = last[id(model.outer.context.agent)] is model
        if any(message.partial for message in model.messages):
            return _UNSEEN
        if is_last and requested is False:
            continue
        # The last call of an agent that passes the conversation to another one requested that. If
        # no message at all is recorded, spans are all that there is.
        is_end = turn.is_in_tool(model.outer) or model in answering or silent == turn.models
        if is_last and is_end and requested is None and calls:
            continue
        if not any(_is_of(call, model) for call in calls):
            return _UNSEEN if requested else _SILENT
    return None


def _has_requested_calls(model: ModelSpans) -> bool | None:
    """Whether a model requested calls, by the reason why it stopped; `None` if there is none."""
    for role_span in model.spans:
        if role_span.span.status == "error":
            return False
        finish = role_span.convention.finish_reason(role_span.span)
        if finish:  # Semantic Kernel prints an enum: `FinishReason.TOOL_CALLS`
            return finish in _CALL_FINISHES or finish.rpartition(".")[2].lower() in _CALL_FINISHES
    return None


def _is_of(call: MatchedCall, model: ModelSpans) -> bool:
    """Whether a call may be one that the model requested."""
    start = model.outer.span.start
    if call.agent != model.agent:
        return False
    return call.start is None or start is None or call.start >= start


def _acts_in_text(model: ModelSpans) -> bool:
    for message in model.messages:
        text = message.text
        # Few texts have either of these, and finding out takes a fraction of the pattern's time.
        may_act = text and ("<" in text or "Action Input:" in text)
        if text and may_act and _TEXT_ACTION.search(text[:_MAX_TEXT]) is not None:
            return True
    return False
