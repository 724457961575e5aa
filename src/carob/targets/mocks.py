"""Tool mocks: recorded results for tool calls, looked up by tool and canonical arguments."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from carob.errors import FormatError, InputError
from carob.schema import (
    Case,
    Json,
    MissPolicy,
    MockSpec,
    Struct,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
)
from carob.schema.base import prepare_type
from carob.schema.trace import ResultOrigin

STATE_DELTAS = "carob.state_deltas"
"""The attribute of a trace with what each tool call wrote to the session state, by call id."""
MAX_LATENCY = 120.0
"""Seconds that an injected latency may be: no more than the default limit of a turn."""
_MISS = "no recorded result for"
_encode = msgspec.json.Encoder(order="deterministic").encode


class MockedResult(Struct, frozen=True):
    """A recorded result of a tool call."""

    tool: str
    args: Json = None
    """`None` matches any arguments."""
    result: Json = None
    error: str | None = None
    state: dict[str, Json] = {}
    """What the tool wrote to the session state."""
    case: str | None = None
    """The case that it belongs to; `None` for all."""
    probability: Annotated[float, Meta(ge=0, le=1)] | None = None
    """How often an injected fault happens, from 0 to 1. Faults come before recorded results."""
    every: Annotated[int, Meta(ge=1)] | None = None
    """Which calls an injected fault happens to: with 3, every third one of a conversation."""
    latency: Annotated[float, Meta(ge=0, le=MAX_LATENCY)] | None = None
    """Seconds before the result. A fault with neither `result` nor `error` is only slow."""

    @property
    def is_fault(self) -> bool:
        """Whether it is injected, instead of recorded."""
        return self.probability is not None or self.every is not None


class MockAnswer(NamedTuple):
    """What a tool call gets, and after how many seconds."""

    result: MockedResult | None
    """`None` if the real tool should run."""
    latency: float = 0.0


class MockUse(NamedTuple):
    """One tool call, and where its result came from."""

    tool: str
    args: bytes
    origin: ResultOrigin


class MissingMockError(Exception):
    """A tool call without a recorded result."""


class ToolError(Exception):
    """A tool call whose recorded result is an error."""


@dataclass(kw_only=True)
class ToolMocks:
    """The mocks of one attempt. Results with the same arguments are used in their recorded order,
    and the last one again and again: a read may be repeated."""

    results: Iterable[MockedResult]
    seed: str = ""
    """Determines which calls get an injected fault."""
    on_miss: MissPolicy = "error"
    missed: list[str] = field(default_factory=list[str])
    """Descriptions of the calls without a recorded result."""
    uses: list[MockUse] = field(default_factory=list["MockUse"])
    """Every call in order."""
    state: dict[str, Json] = field(default_factory=dict[str, Json])
    """What mocked tools wrote to the session state."""

    def __post_init__(self) -> None:
        self.recorded = tuple(self.results)
        self._by_call: dict[tuple[str, bytes], list[MockedResult]] = {}
        self._by_tool: dict[str, list[MockedResult]] = {}
        self._faults = [result for result in self.recorded if result.is_fault]
        self._calls = [0] * len(self._faults)
        self._random = Random(self.seed)  # noqa: S311 - repeatable on purpose
        for result in self.recorded:
            if result.is_fault:
                continue
            key = (result.tool, canonical(result.args))
            self._by_call.setdefault(key, []).append(result)
            self._by_tool.setdefault(result.tool, []).append(result)

    async def answer(self, tool: str, args: Json) -> MockedResult | None:
        """Return what `find` returns, after the latency."""
        answer = self._look_up(tool, args)
        if answer.latency:
            await asyncio.sleep(answer.latency)
        return answer.result

    def find(self, tool: str, args: Json) -> MockedResult | None:
        """Return the next recorded result of a call, or `None` if the real tool should run. Raises
        `MissingMockError` if there is none, as the policy demands. Latency blocks the thread."""
        answer = self._look_up(tool, args)
        if answer.latency:
            time.sleep(answer.latency)
        return answer.result

    def _inject(self, tool: str, args: Json) -> MockAnswer:
        """Return the fault that happens to a call, and how long all faults delay it."""
        latency = 0.0
        for number, fault in enumerate(self._faults):
            if not self._strikes(number, fault, tool, args):
                continue
            latency += fault.latency or 0.0
            if fault.error is not None or fault.result is not None:
                return MockAnswer(fault, latency)
        return MockAnswer(None, latency)

    def _strikes(self, number: int, fault: MockedResult, tool: str, args: Json) -> bool:
        if fault.tool != tool:
            return False
        if fault.args is not None and canonical(fault.args) != canonical(args):
            return False
        # Counted per fault and not per tool: every second call with these arguments, whatever other
        # calls the agent makes in between.
        self._calls[number] += 1
        if fault.every is not None and self._calls[number] % fault.every:
            return False
        return fault.probability is None or self._random.random() < fault.probability

    def _look_up(self, tool: str, args: Json) -> MockAnswer:
        """Return the injected fault, or else the recorded result."""
        injected = self._inject(tool, args)
        if injected.result is not None:
            self.uses.append(MockUse(tool, canonical(args), "mocked"))
            return injected
        # A result that states no arguments, stored under `null`, answers every call of its tool.
        results = self._by_call.get((tool, canonical(args))) or self._by_call.get((tool, b"null"))
        if results is None and self.on_miss == "by-name":
            results = self._by_tool.get(tool)
        if results:
            result = results.pop(0) if len(results) > 1 else results[0]
            self.uses.append(MockUse(tool, canonical(args), "mocked"))
            self.state.update(result.state)
            return MockAnswer(result, injected.latency + (result.latency or 0.0))
        if self.on_miss == "live":
            self.uses.append(MockUse(tool, canonical(args), "live"))
            return MockAnswer(None, injected.latency)
        self.uses.append(MockUse(tool, canonical(args), "missed"))
        message = f"{_MISS} {tool}({_encode(args).decode()})"
        self.missed.append(message)
        raise MissingMockError(message)

    def call(self, tool: str, args: dict[str, Json], real: Callable[..., Json] | None) -> Json:
        """Return the result of a call, or raise the recorded error."""
        result = self.find(tool, args)
        return _run_real(tool, args, real) if result is None else _unpack(result)

    async def call_async(
        self, tool: str, args: dict[str, Json], real: Callable[..., Any] | None
    ) -> Json:
        """Return the result of a call, whose real tool may be asynchronous, or raise the recorded
        error."""
        result = await self.answer(tool, args)
        if result is not None:
            return _unpack(result)
        value = _run_real(tool, args, real)
        return await value if inspect.isawaitable(value) else value

    def annotate(self, turns: Iterable[Turn]) -> tuple[Turn, ...]:
        """Return the turns with the origin of each tool result."""
        uses = list(self.uses)
        return tuple(_annotate(turn, uses) for turn in turns)


def find_missed(turns: Iterable[Turn]) -> str | None:
    """Return the first call that a mock MCP server had no result for. It runs in another process,
    so that only the results of the agent's tools tell of it."""
    for turn in turns:
        for result in turn.tool_results:
            miss = f"{_MISS} {result.name}("
            text = result.error or _as_text(result.result)
            if result.name and miss in text and result.origin is None:
                return f"{_MISS} {result.name}, says its MCP server"
    return None


def _as_text(value: Json) -> str:
    try:
        return _encode(value).decode()
    except Exception:  # noqa: BLE001 - an agent may return any object
        return ""


def _run_real(tool: str, args: dict[str, Json], real: Callable[..., Any] | None) -> Any:
    if real is None:
        raise MissingMockError(f"no tool {tool!r} to call")
    return real(**args)


def _unpack(result: MockedResult) -> Json:
    if result.error is not None:
        raise ToolError(result.error)
    return result.result


def _annotate(turn: Turn, uses: list[MockUse]) -> Turn:
    calls = list(turn.tool_calls or ())
    results: list[ToolResult] = []
    for result in turn.tool_results:
        call = pop_call(calls, result)
        key = (call.name, canonical(call.args)) if call else (result.name, None)
        index = next((i for i, use in enumerate(uses) if _is_use(use, *key)), None)
        origin = uses.pop(index).origin if index is not None else "live"
        results.append(msgspec.structs.replace(result, origin=origin))
    return msgspec.structs.replace(turn, tool_results=tuple(results))


def _is_use(use: MockUse, tool: str | None, args: bytes | None) -> bool:
    return use.tool == tool and (args is None or use.args == args)


def canonical(args: Json) -> bytes:
    """Return arguments as bytes that do not depend on the order of keys, or on 2 against 2.0."""
    return _encode(_normal(args))


def _normal(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, Mapping):
        return {key: _normal(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normal(item) for item in value]
    return value


def golden_results(case: Case) -> list[MockedResult]:
    """Return the tool results that a golden case records: those of its turns, then those of the
    answer recorded beside it."""
    turns = [*case.turns, *(case.recorded.turns if case.recorded else ())]
    return [result for turn in turns for result in turn_results(turn, case.id)]


def turn_results(turn: Turn, case: str | None) -> list[MockedResult]:
    """Return the results of the tool calls in a turn. A result belongs to the call with its id, or
    else to the next call of its tool."""
    calls = list(turn.tool_calls or ())
    results: list[MockedResult] = []
    for result in turn.tool_results:
        call = pop_call(calls, result)
        name = call.name if call else result.name
        if name is not None:
            results.append(
                MockedResult(
                    tool=name,
                    args=call.args if call else None,
                    result=result.result,
                    error=result.error,
                    case=case,
                )
            )
    return results


def pop_call(calls: list[ToolCall], result: ToolResult) -> ToolCall | None:
    """Remove the call that a result belongs to, and return it: the one with its id, or else the
    next one of its tool."""
    for number, call in enumerate(calls):
        same_id = result.id is not None and call.id == result.id
        if same_id or ((result.id is None or call.id is None) and call.name == result.name):
            return calls.pop(number)
    return None


def mocks_digest(results: Iterable[MockedResult]) -> str:
    """Return the fingerprint of mocks."""
    digest = sha256()
    for result in results:
        digest.update(_encode(result))
    return f"sha256:{digest.hexdigest()}"


class MockSource:
    """The recorded results of a run: those of each golden case, or those of a file."""

    def __init__(self, source: str, on_miss: MissPolicy) -> None:
        self._on_miss: MissPolicy = on_miss
        self._file = None if source == "golden" else read_mocks(Path(source))
        self._source = source

    def for_case(self, case: Case, seed: int) -> ToolMocks:
        """Return fresh mocks for one attempt at a case."""
        return ToolMocks(
            results=self._results(case), on_miss=self._on_miss, seed=f"{seed}/{case.id}"
        )

    def shared(self) -> list[MockedResult]:
        """Return all results of the file, whatever case they belong to."""
        return list(self._file or ())

    def describe(self, cases: Iterable[Case]) -> MockSpec:
        """Return the description of the mocks that a run records."""
        digest = mocks_digest(result for case in cases for result in self._results(case))
        return MockSpec(source=self._source, digest=digest, on_miss=self._on_miss)

    def _results(self, case: Case) -> list[MockedResult]:
        if self._file is None:
            return golden_results(case)
        own = [result for result in self._file if result.case == case.id]
        return own + [result for result in self._file if result.case is None]


def read_mocks(path: Path) -> list[MockedResult]:
    """Read recorded results, one JSON object per line. Raises `InputError`."""
    decoder = msgspec.json.Decoder(prepare_type(MockedResult))
    results: list[MockedResult] = []
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                results.append(decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            hint = 'expected lines such as {"tool": "find_price", "args": {…}, "result": …}'
            raise FormatError(str(error), where=f"{path} line {number}", hint=hint) from error
    return results


def recorded_results(trace: Trace) -> list[MockedResult]:
    """Return the tool results of a trace as mocks, with what each tool wrote to the state."""
    deltas = trace.attributes.get(STATE_DELTAS)
    written = deltas if isinstance(deltas, dict) else {}
    results: list[MockedResult] = []
    for turn in trace.turns:
        real = [result for result in turn.tool_results if result.origin != "missed"]
        kept = msgspec.structs.replace(turn, tool_results=tuple(real))
        for result, mocked in zip(real, turn_results(kept, trace.case), strict=False):
            delta = written.get(result.id or "")
            state = delta if isinstance(delta, dict) else {}
            results.append(msgspec.structs.replace(mocked, state=state))
    return results
