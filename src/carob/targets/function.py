"""Python code as a target: a function, sync or async, or a class with one object per conversation.

The smallest target is `def answer(message: str) -> str`. A second parameter receives the
conversation so far. A function whose parameter is called `case` answers the whole case at once.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from carob.errors import UsageError
from carob.lazy import load_reference
from carob.schema import Case, Json, TargetSettings, Trace, Turn
from carob.targets.mocks import ToolMocks
from carob.targets.replies import as_trace, as_turn
from carob.targets.target import (
    Attempt,
    Capability,
    Conversation,
    Target,
    TargetError,
    TurnContext,
)

_METHODS = ("answer", "say", "__call__")
"""How an object of a class may name the method that answers a message."""
_CAN: frozenset[Capability] = frozenset(
    ("state_in", "state_out", "calls", "results", "usage", "agents", "context", "mocks")
)


@dataclass(kw_only=True)
class AgentInput:
    """The second parameter of a function: the conversation so far, and what the case provides."""

    message: str = ""
    history: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    """Earlier messages as `{"role": "user" | "assistant", "content": …}`."""
    state: dict[str, Json] = field(default_factory=dict[str, Json])
    """The session state. The function may change it; what is left at the end is recorded."""
    context: str | None = None
    """The context of the case."""
    case: Case
    attempt: int
    seed: int
    turn: int = 0
    traceparent: str = ""
    mocks: ToolMocks | None = None
    options: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """The options of the target, such as a model or a prompt of a matrix."""

    def call_tool(
        self, name: str, args: dict[str, Json], tool: Callable[..., Json] | None = None
    ) -> Json:
        """Return the recorded result of a tool call with `--mocks`; else call the tool."""
        if self.mocks is None:
            if tool is None:
                raise LookupError(f"no mocks are configured for {name!r}: pass --mocks golden")
            return tool(**args)
        return self.mocks.call(name, args, tool)

    async def call_tool_async(
        self, name: str, args: dict[str, Json], tool: Callable[..., Any] | None = None
    ) -> Json:
        """Return what `call_tool` returns, for asynchronous agents and tools: an injected latency
        holds up this conversation alone."""
        if self.mocks is not None:
            return await self.mocks.call_async(name, args, tool)
        value = self.call_tool(name, args, tool)
        return await value if inspect.isawaitable(value) else value


def open_function(settings: TargetSettings) -> Target:
    """Open `python:FILE.py:NAME` or `python:package.module:NAME`."""
    reference = settings.name.partition(":")[2]
    value = load_reference(reference, settings.name)
    return wrap_function(value, settings.name, settings.options)


def wrap_function(
    value: Any, name: str | None = None, options: Mapping[str, Json] | None = None
) -> Target:
    """Return Python code as a target. A target stays as it is. `options` are for functions with a
    second parameter. Raises `UsageError` if the code cannot see them."""
    if callable(getattr(value, "open", None)) and hasattr(value, "can"):
        return cast("Target", value)
    if not callable(value):
        hint = "expected a function, a class, or an object with `open` and `can`"
        raise UsageError(f"{value!r:.80} is not callable", where=name, hint=hint)
    label = name or f"python:{_qualified_name(value)}"
    if isinstance(value, type):
        factory = _class_factory(cast("type[Any]", value), label)
        return FunctionTarget(label, factory, options)
    form = _form(value, label)
    if options and form != "input":
        hint = "take a second parameter: def answer(message, conversation)"
        raise UsageError("this function cannot see its options", where=label, hint=hint)
    if form == "case":
        return CaseFunction(label, value)
    return FunctionTarget(label, lambda _: (value, form), options)


def _qualified_name(value: Any) -> str:
    named = hasattr(value, "__qualname__")
    kind = cast("Callable[..., Any]", value if named else type(value))
    return f"{getattr(kind, '__module__', 'builtins')}:{kind.__qualname__}"


_Form = Literal["message", "input", "case"]


def _form(function: Callable[..., Any], where: str) -> _Form:
    """Return what a function takes: a message, a message and the conversation, or a case."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built in
        return "message"
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    params = [param for param in signature.parameters.values() if param.kind in kinds]
    rest = any(
        param.kind is inspect.Parameter.VAR_POSITIONAL for param in signature.parameters.values()
    )
    if not params and not rest:
        hint = "such as `def answer(message: str) -> str`"
        raise UsageError("the function takes no message", where=where, hint=hint)
    if params and (params[0].name == "case" or params[0].annotation in (Case, "Case")):
        return "case"
    if len([param for param in params if param.default is param.empty]) > 2:
        hint = "such as `def answer(message, conversation)`"
        raise UsageError("the function takes more than two parameters", where=where, hint=hint)
    return "input" if len(params) >= 2 else "message"


_Factory = Callable[[Case], tuple[Callable[..., Any], _Form]]


def _class_factory(kind: type[Any], where: str) -> _Factory:
    """Return a factory of conversations: an object of the class for each."""
    method = next((name for name in _METHODS if name in dir(kind) and name != "__call__"), None)
    if method is None and "__call__" in {name for base in kind.__mro__ for name in vars(base)}:
        method = "__call__"
    if method is None:
        hint = "it needs a method `answer(self, message)`"
        raise UsageError(f"the class {kind.__name__} cannot answer", where=where, hint=hint)
    takes_case = "case" in inspect.signature(kind).parameters

    def create(case: Case) -> tuple[Callable[..., Any], _Form]:
        function = getattr(kind(case=case) if takes_case else kind(), method)
        return function, _form(function, where)

    return create


async def call_function(function: Callable[..., Any], *args: Any) -> Any:
    """Call the user's code. A plain function gets a thread of its own: it may block, and one that
    never returns must keep neither the run nor the program from ending."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method, not whether there is one
    ):
        return await _shield_exit(function(*args))
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def finish(result: Any, error: BaseException | None) -> None:
        if future.done():  # timed out or cancelled meanwhile
            return
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

    def work() -> None:
        result, failure = None, None
        try:
            result = context.run(function, *args)
        except StopIteration as error:  # a future cannot carry it
            failure = RuntimeError(f"StopIteration: {error}")
        except BaseException as error:  # noqa: BLE001 - also `sys.exit`, which must end no thread
            failure = error if isinstance(error, Exception) else RuntimeError(repr(error))
        if not loop.is_closed():
            loop.call_soon_threadsafe(finish, result, failure)

    threading.Thread(target=work, name="carob-target", daemon=True).start()
    result = await future
    return await _shield_exit(result) if inspect.isawaitable(result) else result


async def _shield_exit(work: Awaitable[Any]) -> Any:
    """Wait for the user's code. `sys.exit` in it breaks off the conversation, not the run."""
    try:
        return await work
    except SystemExit as error:
        raise RuntimeError(repr(error)) from error


class FunctionTarget:
    """Calls a function for each message."""

    can = _CAN

    def __init__(
        self, name: str, create: _Factory, options: Mapping[str, Json] | None = None
    ) -> None:
        self.name = name
        self.params: dict[str, Json] = dict(options or {})
        self._create = create

    async def open(self, case: Case, attempt: Attempt) -> Conversation:
        """Start a conversation. The constructor of a class is called here."""
        function, form = await call_function(self._create, case)
        return _FunctionConversation(function, form, case, attempt, self.params)

    async def close(self) -> None:
        """Do nothing: there are no connections."""


class _FunctionConversation:
    def __init__(
        self,
        function: Callable[..., Any],
        form: _Form,
        case: Case,
        attempt: Attempt,
        options: Mapping[str, Json],
    ) -> None:
        self._function, self._form = function, form
        self._case = case.id
        self._stated: dict[str, Json] | None = None
        self._initial = dict(attempt.state)
        self._input = AgentInput(
            state=dict(attempt.state),
            context=case.context,
            case=case,
            attempt=attempt.number,
            seed=attempt.seed,
            mocks=attempt.mocks,
            options=options,
        )

    async def say(self, message: str, turn: TurnContext) -> Turn:
        data = self._input
        data.message, data.turn, data.traceparent = message, turn.index, turn.traceparent
        args = (message, data) if self._form == "input" else (message,)
        reply = as_turn(await call_function(self._function, *args), self._case)
        if reply.turn.error is not None:
            raise TargetError("agent", reply.turn.error)
        self._stated = reply.state if reply.state is not None else self._stated
        data.history.append({"role": "user", "content": message})
        data.history.append({"role": "assistant", "content": reply.turn.response or ""})
        return reply.turn

    async def close(self) -> Trace | None:
        state = self._stated
        if state is None and (self._form == "input" and self._input.state != self._initial):
            state = self._input.state
        return Trace(id="", state=state) if state is not None else None


class CaseFunction(FunctionTarget):
    """Calls a function once for each case, as the pytest marker does."""

    def __init__(self, name: str, function: Callable[[Case], Any]) -> None:
        super().__init__(name, lambda _: (function, "message"))
        self._function = function

    async def answer_case(self, case: Case, attempt: Attempt) -> Trace:
        """Return the answer of the function as a trace."""
        return as_trace(case, await call_function(self._function, case), case.id)


def describe_error(error: BaseException) -> str:
    """Return the type and message of what the user's code raised, and where it did."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    if trace is None or isinstance(error, UsageError):
        return text
    file = Path(trace.tb_frame.f_code.co_filename).name
    return f"{text} ({file} line {trace.tb_lineno})"


def merged_state(case: Case, changes: Mapping[str, Json]) -> dict[str, Json]:
    """Return the initial state of a case with the changes of the caller."""
    return {**(case.session.state if case.session else {}), **changes}
