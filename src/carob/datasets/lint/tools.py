"""K301: calls of tools that no agent has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from carob.datasets.lint.check import Found, Item, Place, path_of
from carob.schema import Case, Dataset, Json, expected_tools
from carob.text.spelling import meant


class UndeclaredTools:
    """A case that lists tools is held against its own list, another against all that the file
    declares. Where nothing is declared, nothing can be undeclared."""

    rules = ("K301",)

    def __init__(self) -> None:
        self._declared: set[str] = set()
        self._later: list[tuple[Place, list[tuple[str, Found]]]] = []

    def see(self, item: Item) -> Iterable[Found]:
        own = {*_declared(item.case)}
        self._declared |= own
        expected = dict.fromkeys(expected_tools(item.case))
        if own:
            return [_undeclared(item, name, own) for name in expected if name not in own]
        if expected:
            found = [(name, _undeclared(item, name, ())) for name in expected]
            self._later.append((item.place, found))
        return ()

    def end(self, head: Dataset, cases: int) -> Iterator[Found]:
        if not self._declared:
            return
        for _, found in self._later:
            for name, one in found:
                if name not in self._declared:
                    yield one._replace(hint=_hint(name, self._declared))


def _undeclared(item: Item, name: str, declared: Iterable[str]) -> Found:
    return Found(
        "K301",
        item.place,
        f"a call of {name!r} is expected, which no agent declares",
        _hint(name, declared),
        path_of(item.doc, name),
    )


def _hint(name: str, declared: Iterable[str]) -> str | None:
    known = sorted(declared)
    return meant(name, known) or f"declared are {', '.join(known[:20])}"


def _declared(case: Case) -> Iterator[str]:
    yield from case.tools or ()
    for turn in case.turns:
        for agent in (turn.app or {}).values():
            yield from _function_names(agent)


def _function_names(agent: Json) -> Iterator[str]:
    """ADK lists tools, each with its functions, in either spelling."""
    tools = _member(agent, "tool_declarations", "toolDeclarations")
    for tool in tools if isinstance(tools, list) else ():
        functions = _member(tool, "function_declarations", "functionDeclarations")
        for function in functions if isinstance(functions, list) else ():
            name = _member(function, "name")
            if isinstance(name, str):
                yield name


def _member(value: Json, *names: str) -> Json:
    if not isinstance(value, dict):
        return None
    return next((value[name] for name in names if name in value), None)
