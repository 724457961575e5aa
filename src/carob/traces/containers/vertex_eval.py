"""Vertex AI's evaluation datasets with an agent's responses, alone or within evaluation results."""

from __future__ import annotations

from collections.abc import Iterator

from carob.schema import Json, Trace, Turn
from carob.traces.messages.adk import event_turns, text_of
from carob.traces.messages.turns import TurnBuilder
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_array, as_object, as_text, first_value, fold_keys, objects_in

_RECORDED = frozenset(("responses", "response", "agentdata"))


class VertexEval:
    """`eval_cases` with responses, or an `evaluation_dataset` of them beside their results."""

    name = "vertex-eval"

    def claims(self, item: Json) -> bool:
        return any(map(_is_recorded, _cases(item)))

    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        for case in filter(_is_recorded, _cases(item)):
            case_id = as_text(case.get("evalcaseid"))
            yield Trace(
                id=case_id or content_digest_id([case]),
                turns=_agent_turns(case) or _response_turns(case),
                source=source,
                convention="adk",
                mapper="vertex-eval@1",
                case=case_id,
            )


def _cases(item: Json) -> list[dict[str, Json]]:
    fields = fold_keys(as_object(item))
    datasets = fields.get("evaluationdataset")
    datasets = as_array(datasets) or [item if datasets is None else datasets]
    inner = [fold_keys(as_object(dataset)).get("evalcases") for dataset in datasets]
    return [fold_keys(case) for cases in inner for case in objects_in(cases)]


def _is_recorded(case: dict[str, Json]) -> bool:
    return "prompt" in case and not _RECORDED.isdisjoint(case)


def _agent_turns(case: dict[str, Json]) -> tuple[Turn, ...]:
    """The turns of the agent's events; the prompt begins the first one if no event repeats it."""
    turns = objects_in(fold_keys(as_object(case.get("agentdata"))).get("turns"))
    events = [
        _number_event(turn, event) for turn in turns for event in objects_in(turn.get("events"))
    ]
    authors = [event.get("author") for event in events]
    if events and "user" not in authors:
        invocation = first_value(events[0], "invocation_id")
        prompt: dict[str, Json] = {"author": "user", "content": case.get("prompt")}
        events = [prompt | {"invocation_id": invocation}, *events]
    return event_turns([*events])


def _number_event(turn: dict[str, Json], event: dict[str, Json]) -> dict[str, Json]:
    number = as_text(fold_keys(turn).get("turnindex")) or ""
    return {key: value for key, value in event.items() if key != "invocationId"} | {
        "invocation_id": f"turn-{number}"
    }


def _response_turns(case: dict[str, Json]) -> tuple[Turn, ...]:
    """One turn; the tools are unknown, because only the text of the response is recorded."""
    builder = TurnBuilder()
    builder.mark_calls_unknown()
    builder.add_user_text(text_of(case.get("prompt")) or "")
    first = objects_in(case.get("responses"))[:1]
    response = first[0].get("response") if first else case.get("response")
    if text := text_of(response):
        builder.add_answer("", text)
    return builder.turns()
