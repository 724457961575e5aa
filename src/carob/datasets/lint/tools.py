"""C301: expected calls of tools that no agent declares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from carob.datasets.lint.rules import (
    CaseLocation,
    JsonPath,
    LintItem,
    LintOptions,
    RuleFamily,
    Violation,
    path_of,
)
from carob.files.spool import PickleCodec, Spool
from carob.schema import Case, Dataset, Json, LintRule, expected_tools
from carob.text.spelling import did_you_mean

UNDECLARED_TOOL = LintRule(
    id="C301",
    name="undeclared-tool",
    level="error",
    summary="An expected tool call names a tool that no agent declares.",
)


class UndeclaredTools(RuleFamily):
    """A case that lists tools is checked against its own list, any other case against all tools
    that the file declares. A file without declarations is not checked."""

    rules = (UNDECLARED_TOOL,)

    def __init__(self, settings: LintOptions) -> None:
        super().__init__(settings)
        self._declared: set[str] = set()
        # A later case may declare the tool, so cases without a list wait for the end of the file.
        self._pending = Spool(PickleCodec[_ExpectedTool]())

    def visit(self, item: LintItem) -> Iterable[Violation]:
        own = {*_tools_declared_by(item.case)}
        self._declared |= own
        expected = [
            _ExpectedTool(name, item.location, path_of(item.doc, name))
            for name in dict.fromkeys(expected_tools(item.case))
            if name not in own
        ]
        if own:
            return [_violation(tool, own) for tool in expected]
        self._pending.extend(expected)
        return ()

    def finish(self, header: Dataset, cases: int) -> Iterator[Violation]:
        if not self._declared:
            return
        for tool in self._pending.finish():
            if tool.name not in self._declared:
                yield _violation(tool, self._declared)


class _ExpectedTool(NamedTuple):
    """A tool that a case expects, and where."""

    name: str
    location: CaseLocation
    path: JsonPath


def _violation(tool: _ExpectedTool, declared: Iterable[str]) -> Violation:
    message = f"expected tool {tool.name!r} is not declared by any agent"
    hint = _hint(tool.name, declared)
    return Violation(UNDECLARED_TOOL, tool.location, message, hint, tool.path)


def _hint(name: str, declared: Iterable[str]) -> str | None:
    names = sorted(declared)
    return did_you_mean(name, names) or f"declared tools: {', '.join(names[:20])}"


def _tools_declared_by(case: Case) -> Iterator[str]:
    yield from case.tools or ()
    for turn in case.turns:
        for agent in (turn.app or {}).values():
            yield from _function_names(agent)


def _function_names(agent: Json) -> Iterator[str]:
    """ADK lists tools, each with its functions, in snake case or camel case."""
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
