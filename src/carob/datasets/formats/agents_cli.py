"""The EvaluationDataset of Google's agents-cli, the successor of the EvalSet in its scaffold.

Events of agents in `agent_data` and `responses` are what an agent did: a recorded answer, not an
expectation. The expected answer is in `reference`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from carob.datasets.document_types import OpenDocument, find_member, parse_document
from carob.datasets.formats import list_items
from carob.datasets.formats.reference_data import all_expected_calls, without_nulls
from carob.datasets.formats.row_values import read_calls, write_calls
from carob.datasets.lens import RESERVED_KEY, Lens
from carob.datasets.patch import Object
from carob.datasets.source import Container
from carob.schema import Case, Dataset, Json, Problem, Rubric, ToolCall, Trace, Turn


class EvaluationCase(OpenDocument):
    """A prompt, or the turns of a conversation, and the reference answer."""

    eval_case_id: str | None = None
    prompt: Any = None
    agent_data: dict[str, Any] | None = None
    reference: dict[str, Any] | None = None
    responses: list[Any] | None = None
    context: Any = None
    rubric_groups: dict[str, Any] | None = None
    expected_tool_use: Any = None
    reference_final_response: Any = None
    rubrics: Any = None


class EvaluationDataset(OpenDocument):
    """A dataset for `agents-cli eval`."""

    eval_cases: list[EvaluationCase]


class AgentsCliFormat:
    name = "agents-cli"
    recognized_by = (
        "an object with `eval_cases` whose items have `eval_case_id`, or `prompt` or `agent_data`"
    )
    containers: tuple[Container, ...] = ("document",)
    writable = True
    derives_ids = False
    items_keys = ("eval_cases",)
    shape: type = EvaluationDataset

    def claims(self, sample: Json) -> bool:
        return isinstance(sample, dict) and is_evaluation_dataset(sample)

    def items(self, document: Json) -> list[Json]:
        return list_items(document, self.items_keys)

    def cases(self, container: Container) -> Lens[Case]:
        return Lens(
            key=self.name,
            model=Case,
            read=_read_case,
            write=_write_case,
            reserved_path=(RESERVED_KEY,),
            atomic=lambda key, _: key in ("parts", "agent_data"),
        )

    def header(self, container: Container, stem: str) -> Lens[Dataset]:
        return Lens(
            key=self.name,
            model=Dataset,
            read=lambda _: Dataset(name=stem),
            write=lambda _: {"eval_cases": []},
            reserved_path=(RESERVED_KEY,),
            derived="name",
        )

    def check(self, item: Json) -> Iterator[Problem]:
        if not isinstance(item, dict):
            return
        if not item.get("eval_case_id"):
            yield Problem(where="$", message="missing field 'eval_case_id'", hint="add an id")
        has_prompt, has_data = item.get("prompt") is not None, item.get("agent_data") is not None
        if has_prompt == has_data:
            message = "both 'prompt' and 'agent_data'" if has_prompt else "missing field 'prompt'"
            hint = "state one of 'prompt' and 'agent_data'"
            yield Problem(where="$", message=message, hint=hint)


def is_evaluation_dataset(document: Object) -> bool:
    """Whether a document with `eval_cases` is an EvaluationDataset, not an EvalSet."""
    cases = document.get("eval_cases")
    if cases == []:
        return "eval_set_id" not in document
    first = cases[0] if isinstance(cases, list) and cases else None
    if not isinstance(first, dict) or "eval_id" in first or "evalId" in first:
        return False
    return bool({"eval_case_id", "prompt", "agent_data"} & first.keys())


def _read_case(doc: Json) -> Case:
    shape = parse_document(doc, EvaluationCase)
    case_id = shape.eval_case_id or ""
    if shape.agent_data is not None:
        turns, trace = _read_agent_data(shape.agent_data, case_id)
    else:
        turns, trace = (Turn(user=content_text(shape.prompt)),), None
    calls = read_calls(shape.expected_tool_use)
    response = _read_reference(shape)
    if turns and (response is not None or calls is not None):
        last = msgspec.structs.replace(turns[-1], response=response, tool_calls=calls)
        turns = (*turns[:-1], last)
    return Case(
        id=case_id,
        turns=turns,
        context=content_text(shape.context),
        rubrics=(*_read_rubrics(shape.rubric_groups or {}), *_read_own_rubrics(shape.rubrics)),
        recorded=trace or _read_responses(shape.responses, case_id, turns),
    )


def content_text(content: Json) -> str | None:
    """The text of a Content, or of a plain text."""
    if not isinstance(content, dict):
        return content if isinstance(content, str) else None
    parts = content.get("parts")
    texts = [
        part.get("text")
        for part in (parts if isinstance(parts, list) else [])
        if isinstance(part, dict)
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _read_reference(shape: EvaluationCase) -> str | None:
    if shape.reference is not None:
        return content_text(shape.reference.get("response"))
    return content_text(shape.reference_final_response)


def _read_responses(
    responses: list[Any] | None, case_id: str, turns: tuple[Turn, ...]
) -> Trace | None:
    first = cast("Json", responses[0]) if responses else None
    text = content_text(first.get("response")) if isinstance(first, dict) else None
    if text is None:
        return None
    turn = Turn(user=turns[-1].user if turns else None, response=text)
    return Trace(id=case_id, case=case_id, turns=(turn,))


def _read_agent_data(data: Object, case_id: str) -> tuple[tuple[Turn, ...], Trace | None]:
    """The user messages, and what the agents did after each."""
    turns: list[Turn] = []
    recorded: list[Turn] = []
    for event in _events(data):
        content = event.get("content")
        if event.get("author") == "user":
            turns.append(Turn(user=content_text(content)))
            recorded.append(turns[-1])
        elif recorded:
            calls = tuple(_calls(content))
            last, text = recorded[-1], content_text(content)
            recorded[-1] = msgspec.structs.replace(
                last,
                response=text or last.response,
                tool_calls=((*(last.tool_calls or ()), *calls) or last.tool_calls),
            )
    if recorded == turns:
        return tuple(turns), None
    return tuple(turns), Trace(id=case_id, case=case_id, turns=tuple(recorded))


def _events(data: Object) -> Iterator[Object]:
    turns = data.get("turns")
    for turn in turns if isinstance(turns, list) else []:
        events = turn.get("events") if isinstance(turn, dict) else None
        for event in events if isinstance(events, list) else []:
            if isinstance(event, dict):
                yield event


def _calls(content: Json) -> Iterator[ToolCall]:
    parts = content.get("parts") if isinstance(content, dict) else None
    for part in parts if isinstance(parts, list) else []:
        call = part.get("function_call") if isinstance(part, dict) else None
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            yield ToolCall(name=str(call["name"]), args=call.get("args"))


def _read_rubrics(groups: Object) -> Iterator[Rubric]:
    for name, group in groups.items():
        rubrics = group.get("rubrics") if isinstance(group, dict) else None
        for index, rubric in enumerate(rubrics if isinstance(rubrics, list) else []):
            content = rubric.get("content") if isinstance(rubric, dict) else None
            prop = content.get("property") if isinstance(content, dict) else None
            text = prop.get("description") if isinstance(prop, dict) else None
            rubric_id = rubric.get("rubric_id") if isinstance(rubric, dict) else None
            if isinstance(text, str):
                yield Rubric(id=str(rubric_id or f"{name}-{index + 1}"), text=text, type=name)


def _read_own_rubrics(rubrics: Json) -> Iterator[Rubric]:
    """Rubrics of the case itself, as an EvalSet has them: scaffolds were migrated with them."""
    for index, rubric in enumerate(rubrics if isinstance(rubrics, list) else []):
        content = find_member(rubric, "rubric_content")[1]
        text = find_member(content, "text_property")[1]
        if isinstance(text, str):
            name = find_member(rubric, "rubric_id")[1]
            yield Rubric(id=str(name or f"rubric-{index + 1}"), text=text)


def _write_case(case: Case) -> Json:
    users = [turn.user or "" for turn in case.turns]
    prompt = case.scenario.prompt if case.scenario else ""
    last = case.turns[-1] if case.turns else Turn()
    is_single = len(users) < 2
    answer = case.recorded.turns[-1].response if case.recorded and case.recorded.turns else None
    calls = all_expected_calls(case) if is_single else last.tool_calls
    return without_nulls(
        eval_case_id=case.id,
        prompt=_content("user", users[0] if users else prompt) if is_single else None,
        agent_data=None
        if is_single
        else {"turns": [_user_turn(n, u) for n, u in enumerate(users)]},
        reference=None if last.response is None else {"response": _content("model", last.response)},
        responses=None if answer is None else [{"response": _content("model", answer)}],
        context=case.context,
        rubric_groups=_write_rubrics(case.rubrics),
        expected_tool_use=write_calls(calls, "tool_name", "tool_input"),
    )


def _content(role: str, text: str) -> Json:
    return {"role": role, "parts": [{"text": text}]}


def _user_turn(index: int, text: str) -> Json:
    return {"turn_index": index, "events": [{"author": "user", "content": _content("user", text)}]}


def _write_rubrics(rubrics: tuple[Rubric, ...]) -> Json:
    groups: dict[str, list[Json]] = {}
    for rubric in rubrics:
        content: Json = {"property": {"description": rubric.text}}
        entry: Json = {"rubric_id": rubric.id, "content": content}
        groups.setdefault(rubric.type or "default", []).append(entry)
    return {name: {"rubrics": entries} for name, entries in groups.items()} or None
