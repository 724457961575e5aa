"""Live runs: ask an agent the golden questions and record traces, before anything is scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

import msgspec

from carob import __version__, plugins
from carob.api.live.journal import AttemptJournal, RecordedTraces, attempt_key
from carob.api.live.simulator import Simulator, open_simulator
from carob.api.live.spans import open_joiner
from carob.api.live.targets import choose_target
from carob.api.live_request import LiveRequest
from carob.api.pace import Pace
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.selection import SelectedCases
from carob.api.running.unfinished import StoredBatches
from carob.config import Config
from carob.config.trust import untrusted_error
from carob.errors import StoppedError, UsageError
from carob.files.atomic import write_atomic
from carob.runner.plan import Plan
from carob.schema import (
    JudgeSettings,
    LiveEvent,
    Problem,
    RunTarget,
    SimulatorSettings,
    TargetSettings,
    Trace,
)
from carob.schema.problem import ProblemListener, ignore
from carob.store.unfinished import RunKey
from carob.targets.conversation import TimeLimits
from carob.targets.function import merged_state, wrap_function
from carob.targets.live import LiveLimits, LiveRecorder, PlannedAttempt
from carob.targets.mocks import MockSource, recorded_results
from carob.targets.open import open_target
from carob.targets.target import Attempt, Capability, Target

_SHOWN_BY: Mapping[str, Capability] = {
    "tool_calls": "calls",
    "tool_args": "calls",
    "tool_results": "results",
    "agents": "agents",
    "state": "state_out",
    "usage": "usage",
    "models": "usage",
}
"""The capability that a target needs for a part of the trace; other parts are always there."""
_SECONDS_BETWEEN = 0.2
"""How often a live run looks whether it was cancelled."""


@dataclass(frozen=True, kw_only=True)
class LiveRecording:
    """What a live run recorded."""

    traces: RecordedTraces
    target: RunTarget
    stopped: str | None
    journal: AttemptJournal


@dataclass(frozen=True, kw_only=True)
class LiveInputs:
    """What a live run works with."""

    request: LiveRequest
    configured: TargetSettings | None
    """The target of the config."""
    judge: JudgeSettings | None
    """The judge, which plays users unless the request names another model."""
    users: SimulatorSettings
    """How the config plays users."""
    answers: str | None
    """The store of the simulated user's messages."""
    plan: Plan
    cases: SelectedCases
    store: str | None
    resume: bool
    report: ProblemListener = ignore
    listener: Callable[[LiveEvent], None] = ignore
    cancelled: Callable[[], bool] | None = None
    """Whether to give up, from another thread."""


def record_live_run(
    request: RunRequest,
    config: Config,
    plan: Plan,
    cases: SelectedCases | None,
    store: str | None,
    listeners: Listeners,
) -> LiveRecording | None:
    """Ask the live agent of a request, or of the config if the request names no traces. `None` if
    neither has one."""
    live, configured = choose_target(request.live, config)
    if live is None and (configured is None or _has_traces(request, config, cases)):
        return None
    if cases is None:
        raise UsageError("a live agent needs golden data", hint="pass --golden")
    if request.traces or request.recorded or request.cross:
        raise UsageError("both traces and a target", hint="pass only one of them")
    return record_live(
        LiveInputs(
            request=live or LiveRequest(target={}),
            configured=configured,
            judge=config.judge,
            users=config.simulator,
            answers=store or request.answers,
            plan=plan,
            cases=cases,
            store=store,
            resume=request.resume,
            report=listeners.problem,
            listener=listeners.live,
            cancelled=listeners.cancelled,
        )
    )


def _has_traces(request: RunRequest, config: Config, cases: SelectedCases | None) -> bool:
    if request.traces or request.recorded or config.traces:
        return True
    return cases is not None and any(case.recorded for case in cases.part.cases)


def resolve_target(
    request: LiveRequest, configured: TargetSettings | None
) -> tuple[TargetSettings, Target]:
    """Return the target and its settings. Raises `UsageError` before anything is sent."""
    if not 1 <= request.repeat <= 10_000:
        raise UsageError(f"invalid number of attempts {request.repeat}; expected 1 to 10,000")
    target: object = request.target
    own = {name: getattr(request, name) for name in ("concurrency", "turn_timeout", "case_timeout")}
    if isinstance(target, TargetSettings):
        settings = _change(target, own)
        return settings, open_target(settings, plugins.targets())
    if isinstance(target, str):
        target = {"name": target}
    if not isinstance(target, Mapping):
        return _change(TargetSettings(), own), wrap_function(target)
    base = configured or TargetSettings()
    flags = {str(name): value for name, value in cast("Mapping[str, object]", target).items()}
    if base.withheld and flags.get("name") is None:
        raise untrusted_error(base.source, base.withheld)
    settings = _change(msgspec.structs.replace(base, withheld=()), {**flags, **own})
    return settings, open_target(settings, plugins.targets())


def _change(settings: TargetSettings, flags: Mapping[str, object]) -> TargetSettings:
    changes = {name: value for name, value in flags.items() if value is not None}
    return msgspec.structs.replace(settings, **changes)


def check_support(
    target: Target, plan: Plan, cases: SelectedCases, report: ProblemListener
) -> None:
    """Report which metrics the target cannot support, before anything is sent."""
    for planned in plan.metrics:
        needs = [_SHOWN_BY[need] for need in planned.metric.needs if need in _SHOWN_BY]
        missing = [need for need in needs if need not in target.can]
        if missing:
            message = f"{planned.metric.name} will not be scored: it needs {missing[0]}"
            hint = "this target does not show them; see the guide on live agents"
            report(Problem(where=target.name, message=message, hint=hint, severity="warning"))
    seeded = sum(bool(case.session and case.session.state) for case in cases.part.cases)
    if seeded and "state_in" not in target.can:
        message = f"the initial state of {seeded} cases is not sent: this target takes none"
        report(Problem(where=target.name, message=message, severity="warning"))


def record_live(inputs: LiveInputs) -> LiveRecording:
    """Hold all conversations that are not finished yet. Raises `StoppedError` on Ctrl-C, with all
    finished attempts saved."""
    request, cases = inputs.request, inputs.cases
    settings, target = resolve_target(request, inputs.configured)
    check_support(target, inputs.plan, cases, inputs.report)
    mocks = _mock_source(request, target)
    simulator = open_simulator(
        request, cases.part.cases, inputs.judge, inputs.users, inputs.answers, inputs.report
    )
    described = RunTarget(
        name=target.name,
        params=target.params,
        repeat=request.repeat,
        seed=request.seed,
        simulator=simulator.describe(),
        mocks=mocks.describe(cases.part.cases) if mocks else None,
    )
    key = attempt_key(
        {
            "carob": __version__,
            "target": described,
            "dataset": cases.info.digest,
            "selection": cases.selection,
            "state": request.state,
        }
    )
    total = len(cases.part.cases) * request.repeat
    stored = StoredBatches(RunKey(f"live-{key}", cases.whole.name, total), inputs.store)
    journal = AttemptJournal(
        stored, resume=inputs.resume, patient=inputs.store is None, report=inputs.report
    )
    progress = _LiveProgress(journal, total, inputs.listener)
    recorder = LiveRecorder(
        target=target,
        limits=_limits(settings, request),
        finished=progress.finished,
        joiner=open_joiner(request.span_wait, inputs.store),
        spent=simulator.spent,
    )
    progress.recorder = recorder
    try:
        attempts = _plan_attempts(inputs, key, journal.done, mocks, simulator)
        run_loop(_record(recorder, attempts, simulator, inputs.cancelled))
        if inputs.cancelled and inputs.cancelled():
            raise _stop_error(journal, total)
    except KeyboardInterrupt as error:
        raise _stop_error(journal, total) from error
    finally:
        journal.flush()
    if request.max_cost is not None and recorder.unpriced:
        message = f"--max-cost does not limit the agent: {recorder.unpriced}"
        inputs.report(Problem(where=target.name, message=message, severity="warning"))
    traces = journal.finish()
    if request.record is not None:
        write_mocks(Path(request.record), traces)
    return LiveRecording(traces=traces, target=described, stopped=recorder.stopped, journal=journal)


def write_mocks(path: Path, traces: Iterable[Trace]) -> None:
    """Write the tool results of traces as a file for `--mocks`. A result is written once."""
    lines = {
        msgspec.json.encode(result): None for trace in traces for result in recorded_results(trace)
    }
    write_atomic(path, b"".join(line + b"\n" for line in lines))


def _limits(settings: TargetSettings, request: LiveRequest) -> LiveLimits:
    return LiveLimits(
        times=TimeLimits(turn=settings.turn_timeout, case=settings.case_timeout),
        concurrency=settings.concurrency,
        retry=settings.retry,
        max_time=request.max_time,
        max_cost=request.max_cost,
    )


def _mock_source(request: LiveRequest, target: Target) -> MockSource | None:
    if request.mocks is None:
        return None
    if "mocks" not in target.can:
        hint = "its tools run elsewhere; see the guide on live agents for a mock MCP server"
        raise UsageError("this target takes no tool mocks", where=target.name, hint=hint)
    return MockSource(str(request.mocks), request.on_miss)


async def _record(
    recorder: LiveRecorder,
    attempts: Iterator[PlannedAttempt],
    simulator: Simulator,
    cancelled: Callable[[], bool] | None,
) -> None:
    try:
        if cancelled is None:
            await recorder.record(attempts)
        else:
            await _unless(cancelled, recorder.record(attempts))
    finally:
        await simulator.close()


async def _unless(cancelled: Callable[[], bool], work: Coroutine[Any, Any, None]) -> None:
    """Do the work until somebody cancels it, also in the middle of a long conversation."""
    task = asyncio.create_task(work)
    while not task.done() and not cancelled():
        await asyncio.wait({task}, timeout=_SECONDS_BETWEEN)
    if not task.done():
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.result()


def _plan_attempts(
    inputs: LiveInputs,
    key: str,
    done: frozenset[int],
    mocks: MockSource | None,
    simulator: Simulator,
) -> Iterator[PlannedAttempt]:
    """Yield the attempts that are left: all first ones, then all second ones, so that a run that
    is stopped has tried as many cases as possible."""
    request = inputs.request
    # Sessions of this process have ids of their own: an earlier run, or an attempt that was cut
    # off, may have left sessions on the server, and no turn is sent into those.
    run = f"{key}-{token_hex(8)}"
    for repeat in range(request.repeat):
        for position, case in enumerate(inputs.cases.part.cases):
            number = position * request.repeat + repeat
            if number in done:
                continue
            attempt = Attempt(
                run=run,
                case=case.id,
                number=repeat + 1,
                seed=request.seed + repeat,
                state=merged_state(case, request.state),
            )
            yield PlannedAttempt(
                number=number,
                case=case,
                attempt=attempt,
                user=simulator.user_of(case, attempt.seed),
                mocks=partial(mocks.for_case, case, attempt.seed) if mocks else None,
            )


class _LiveProgress:
    """Saves each finished attempt, then reports it."""

    def __init__(
        self, journal: AttemptJournal, total: int, listener: Callable[[LiveEvent], None]
    ) -> None:
        self._journal, self._total, self._listener = journal, total, listener
        self._pace = Pace()
        self._pace.seconds_left(journal.count, total)  # the pace begins now
        self.recorder: LiveRecorder | None = None

    async def finished(self, planned: PlannedAttempt, trace: Trace) -> None:
        trace = await self._journal.save(planned.number, trace)
        done = self._journal.count
        failure = trace.failure
        self._listener(
            LiveEvent(
                case=planned.case.id,
                attempt=planned.attempt.number,
                error=f"{failure.kind}: {failure.message}" if failure else None,
                turns=len(trace.turns),
                duration_ms=trace.duration_ms or 0.0,
                done=done,
                total=self._total,
                failed=self._journal.failed,
                cost=self.recorder.known_cost if self.recorder else None,
                eta_s=self._pace.seconds_left(done, self._total),
            )
        )


def _stop_error(journal: AttemptJournal, total: int) -> StoppedError:
    done = journal.count
    if not done:
        return StoppedError("stopped before any conversation was finished")
    if not journal.flush():
        return StoppedError(f"stopped; {done} finished attempts could not be saved")
    message = f"stopped; {done} of {total} attempts are saved"
    return StoppedError(message, hint="continue with --resume")


def run_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine, also in a notebook, whose cells run in a loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with asyncio.Runner() as runner:
            runner.run(work)
        return
    from concurrent.futures import ThreadPoolExecutor  # late: only notebooks need it

    with ThreadPoolExecutor(1, "carob-live") as pool, ExitStack() as stack:
        loops: list[asyncio.AbstractEventLoop] = []

        def run() -> None:
            with asyncio.Runner() as runner:
                loops.append(runner.get_loop())
                runner.run(work)

        future = pool.submit(run)
        stack.callback(lambda: loops and not future.done() and _cancel_all(loops[0]))
        future.result()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    def cancel() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()

    loop.call_soon_threadsafe(cancel)
