"""The edit script of a case as a list of check boxes: accept what the agent did, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from carob.api.views.case import CaseView, TurnView
from carob.report.markup import Child, Markup, tag
from carob.report.text import count
from carob.schema import ToolCall
from carob.schema.edit_script import ArgumentChange, EditStep
from carob.server.pages.parts import address
from carob.server.pages.texts import MAX_VALUE, RAW, diff_words, short_value, value_text


def turn_differs(turn: TurnView) -> bool:
    """Return whether a turn is not as expected."""
    if turn.script is not None and any(step.kind != "keep" for step in turn.script):
        return True
    if turn.expected is None or turn.actual is None:
        return True
    expected = turn.expected.response
    return expected is not None and expected != turn.actual.response


def count_changes(view: CaseView) -> int:
    """Return how many lines the edit script of a case has."""
    return 0 if view.golden is None else sum(1 for _ in _lines(view))


def script_form(view: CaseView, case: str) -> Markup | None:
    """Return the form that accepts lines; `None` if everything is as expected."""
    lines = list(_lines(view))
    if not lines:
        return None
    dataset = view.run.dataset.name if view.run.dataset else ""
    hint = f"Accepted lines go into the draft of {dataset}, and wait for review there."
    return tag(
        "form",
        tag("h2", f"Edit script: {count(len(lines), 'change')}", class_="golden"),
        tag("input", type="hidden", name="attempt", value=str(view.attempt)),
        tag("ol", lines, class_="script"),
        tag(
            "p",
            tag(
                "button",
                tag("kbd", "a"),
                "Accept checked as golden",
                type="submit",
                data_key="a",
                class_="gold",
            ),
            " ",
            tag("span", hint, class_="quiet"),
        ),
        method="post",
        action=address("runs", view.run.id, "cases", case, "accept"),
        id="script",
    )


def _lines(view: CaseView) -> Iterator[Markup]:
    for number, turn in enumerate(view.turns):
        if turn.expected is None or turn.actual is None:
            continue  # a missing turn is no expectation that one could accept
        yield from _step_lines(str(number), f"turn {number + 1}: ", turn.script or ())
        expected, actual = turn.expected.response, turn.actual.response
        if expected is not None and actual is not None and expected != actual:
            value = [
                f"turn {number + 1}: answer ",
                tag("ins", short_value(actual), dir="auto"),
            ]
            yield _line(f"{number}.response", "replace", value)
    yield from _step_lines("case", "", view.script or ())


def _step_lines(place: str, prefix: str, script: Sequence[EditStep]) -> Iterator[Markup]:
    for index, step in enumerate(script):
        name = f"{place}.{index}"
        match step.kind:
            case "missing":
                yield _line(name, "remove", [prefix, tag("del", _call(step.expected))])
            case "unexpected":
                yield _line(name, "add", [prefix, tag("ins", _call(step.actual))])
            case "change":
                for number, argument in enumerate(step.arguments):
                    if argument.kind != "same":
                        tool = step.expected.name if step.expected else ""
                        place = tag("bdi", f"{tool}.{argument.name}")
                        text = [prefix, place, " ", _change(argument)]
                        yield _line(f"{name}.{number}", "replace", text)
            case "keep":
                pass


def _line(name: str, what: str, content: Child) -> Markup:
    box = tag("input", type="checkbox", name="line", value=name, checked=True)
    return tag(
        "li", tag("label", box, tag("span", what, class_="quiet"), tag("code", content, dir="auto"))
    )


def _change(argument: ArgumentChange) -> list[Child]:
    old, new = value_text(argument.expected), value_text(argument.actual)
    if argument.kind == "different" and max(len(old), len(new)) > MAX_VALUE:
        before, after = diff_words(old, new, MAX_VALUE, raw=RAW)
        return [before, " → ", after]
    expected, actual = short_value(old), short_value(new)
    return [
        None if argument.kind == "unexpected" else tag("del", expected),
        " → " if argument.kind == "different" else None,
        None if argument.kind == "missing" else tag("ins", actual),
    ]


def _call(call: ToolCall | None) -> str:
    if call is None:
        return ""
    args = call.args if isinstance(call.args, dict) else {}
    values = (f"{key}={short_value(value_text(value))}" for key, value in args.items())
    return f"{call.name}({', '.join(values)})"
