"""Runs that a server makes in the background, one after the other."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Lock

import msgspec

from carob import plugins
from carob.api.golden.drafts import load_draft
from carob.api.golden.folder import GoldenFolder
from carob.api.history import list_runs
from carob.api.live.targets import named_target, without_targets
from carob.api.live_request import LiveRequest
from carob.api.pace import Pace
from carob.api.run_request import Listeners, RunRequest
from carob.api.running.rescore import stored_traces
from carob.api.running.selection import make_selection
from carob.api.runs import evaluate
from carob.api.serving.leases import Leases
from carob.api.serving.sessions import check_sessions, evaluate_sessions
from carob.api.serving.trace_uploads import upload_file
from carob.api.settings import load_trusted
from carob.api.store import check_labels, hide_store
from carob.config import Config
from carob.errors import CarobError, NotFoundError, RefusedError, StoppedError, UsageError
from carob.policy.profile import builtin_profiles
from carob.schema import CaseCounts, Dataset, LiveEvent, Problem, Run, Trace
from carob.schema.history import RunEntry
from carob.schema.job import JobState, RunJob, status_fields
from carob.schema.problem import ProblemListener
from carob.store import exists
from carob.text.spelling import did_you_mean

_REQUEST = "request"
"""Label of a run with the digest of its idempotency key, so that it outlives the server."""
_REQUEST_BODY = "request_body"
"""Label of the same run with the digest of what was asked for."""
_KEY_IS_USED = "the Idempotency-Key was used for another request"
_OF_SESSIONS = frozenset(("dataset", "sessions", "metrics", "labels"))
"""The fields that a request for sessions may have."""
_MAX_WAITING = 100
_MAX_KEPT = 1000
_MAX_PROBLEMS = 100
_SECONDS_BETWEEN = 0.25
"""Progress is published at most four times a second."""


class JobRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to score. Everything is a name that the server knows: no path, address, rubric file or
    environment variable of a request is ever opened."""

    dataset: str
    """A dataset, or a release of it such as `support@1.2.0`."""
    traces: tuple[str, ...] = ()
    """Uploaded traces. Without traces, sessions and a target, those that the dataset carries."""
    sessions: tuple[str, ...] = ()
    target: str | None = None
    """A live agent to ask: the name of a `[targets.NAME]` table in the server's `carob.toml`."""
    metrics: tuple[str, ...] = ()
    """Without any, those that the data asks for."""
    thresholds: dict[str, float] = {}
    profile: str | None = None
    """A built-in scoring profile."""
    tags: tuple[str, ...] = ()
    where: str | None = None
    cases: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    labels: dict[str, str] = {}


class JobSources(msgspec.Struct, frozen=True, kw_only=True):
    """Where the names in requests are looked up."""

    store: str
    folder: GoldenFolder
    uploads: Path


class _Cancelled(KeyboardInterrupt):
    """Stops a run as an interrupt does: what is scored so far is saved."""


class RunJobs:
    """Runs in the making. Any thread may ask."""

    def __init__(
        self,
        changed: Callable[[RunJob], None] = lambda _job: None,
        *,
        leases: Leases | None = None,
    ) -> None:
        self._leases = leases
        """Of the requests with a key, so that servers on one store do not repeat each other."""
        self._jobs: dict[str, RunJob] = {}
        self._keys: dict[str, tuple[str, bytes]] = {}
        """The job and the body of each idempotency key."""
        self._cancelled: set[str] = set()
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="carob-runs")
        self.changed = changed

    def start(self, sources: JobSources, request: JobRequest, key: str | None = None) -> RunJob:
        """Start a run. The same idempotency key gives the same run, and `RefusedError` for another
        request."""
        return self._start(sources, request, key, msgspec.json.encode(request))

    def rescore(
        self, sources: JobSources, name: str, request: JobRequest, key: str | None = None
    ) -> RunJob:
        """Score the traces that were saved with a run again. The key is as for `start`."""
        traces = stored_traces(sources.store, name)
        body = name.encode() + b"\n" + msgspec.json.encode(request)
        return self._start(sources, request, key, body, traces)

    def _start(
        self,
        sources: JobSources,
        request: JobRequest,
        key: str | None,
        body: bytes,
        recorded: Sequence[Trace] = (),
    ) -> RunJob:
        with self._lock:
            known = self._keys.get(key) if key else None
            if known:
                if known[1] != body:
                    raise RefusedError(_KEY_IS_USED)
                return self._jobs[known[0]]
            waiting = sum(not job.is_over for job in self._jobs.values())
            if waiting >= _MAX_WAITING:
                raise RefusedError(f"{waiting} runs are waiting", hint="try again later")
            make = _prepare(sources, request, _request_labels(key, body), recorded)
            earlier = self._claim(sources.store, key, body) if key else None
            if earlier:
                return _job_of_run(earlier, key or "")
            job = self._add(request, key, body)
        self._pool.submit(self._make, job.id, make, sources.store)
        return job

    def _claim(self, store: str, key: str, body: bytes) -> RunEntry | None:
        """Return the run that was made for a key, if there is one; else it is ours to make. Raises
        `RefusedError` while another server makes it, and if it was made for another request."""
        id = f"job-{_digest(key)}"
        if self._leases and not self._leases.take(id):
            message = "another server makes the run of this Idempotency-Key"
            hint = f"ask again later; GET /api/runs?label={_REQUEST}={_digest(key)} finds the run"
            raise RefusedError(message, hint=hint)
        # After the lease: the run may have been completed while we asked for it.
        earlier = _run_of_key(store, key)
        if earlier:
            self._release(id)
            if earlier.labels.get(_REQUEST_BODY, _digest(body)) != _digest(body):
                raise RefusedError(_KEY_IS_USED)
        return earlier

    def _release(self, id: str) -> None:
        if self._leases:
            self._leases.release(id)

    def get(self, id: str) -> RunJob:
        """Return a job by its own id, or by the id of its run."""
        job = self._jobs.get(id)
        job = job or next((job for job in self.list() if job.run == id), None)
        if job is None:
            raise NotFoundError(f"no run in the making {id!r}")
        return job

    def list(self) -> tuple[RunJob, ...]:
        """Return the jobs, newest first."""
        return tuple(reversed(self._jobs.values()))

    def cancel(self, id: str) -> RunJob:
        """Stop a job at its next step. What is scored so far is saved, and the same request goes on
        from there."""
        with self._lock:
            job = self.get(id)
            if job.is_over:
                return job
            self._cancelled.add(job.id)
            return self._end(job.id, "cancelled") if job.state == "waiting" else job

    def close(self) -> None:
        """Stop all jobs and wait for the current one."""
        with self._lock:
            self._cancelled.update(self._jobs)
        self._pool.shutdown(cancel_futures=True)

    def _add(self, request: JobRequest, key: str | None, body: bytes) -> RunJob:
        id = f"job-{_digest(key) if key else secrets.token_hex(8)}"
        for old in [job.id for job in self._jobs.values() if job.is_over][:-_MAX_KEPT]:
            del self._jobs[old]
            self._keys = {key: entry for key, entry in self._keys.items() if entry[0] != old}
        job = self._jobs[id] = RunJob(
            *(id, "waiting", request.dataset, 0, 0, None, None, ()),
            target=request.target,
            stage="asking" if request.target else "scoring",
        )
        if key:
            self._keys[key] = (id, body)
        return job

    def _make(self, id: str, make: Callable[[Listeners], Run], store: str) -> None:
        problems: list[Problem] = []

        def problem(problem: Problem) -> None:
            if len(problems) < _MAX_PROBLEMS:
                problems.append(problem)

        if id in self._cancelled:
            self._release(id)
            return
        self._set(id, state="running")
        try:
            run = make(self._listeners(id, problem))
        except (StoppedError, KeyboardInterrupt):
            self._end(id, "cancelled", problems)
        except CarobError as error:
            where = hide_store(error.where or "", store)
            failure = Problem(where=where, message=error.message, hint=error.hint)
            self._end(id, "failed", [failure, *problems])
        except Exception as error:  # noqa: BLE001 - the job must end, or who waits for it never does
            failure = Problem(where="", message=f"unexpected {type(error).__name__}: {error}")
            self._end(id, "failed", [failure, *problems])
        else:
            self._set(
                id,
                publish=True,
                state="done",
                eta_s=0.0,
                problems=tuple(problems),
                run=run.id,
                cases=run.summary.cases,
                verdict=run.verdict,
                **status_fields(run.summary.cases),
            )
        finally:
            self._release(id)

    def _end(self, id: str, state: JobState, problems: Sequence[Problem] = ()) -> RunJob:
        """End a job without a run: nothing was decided, whatever was scored until then."""
        return self._set(id, state=state, problems=tuple(problems), verdict="inconclusive")

    def _listeners(self, id: str, problem: ProblemListener) -> Listeners:
        pace, shown = Pace(), time.monotonic()

        def show(done: int, total: int, **changes: object) -> None:
            nonlocal shown
            now = time.monotonic()
            publish = now - shown >= _SECONDS_BETWEEN or done >= total
            shown = now if publish else shown
            # Whoever asks gets the newest state: the next conversation may take minutes.
            self._set(id, publish=publish, done=done, total=total, **changes)

        def count(counts: CaseCounts) -> None:
            self._set(id, publish=False, **status_fields(counts))

        def scoring(done: int, total: int) -> None:
            if id in self._cancelled:
                raise _Cancelled
            show(done, total, stage="scoring", eta_s=pace.seconds_left(done, total))

        def live(event: LiveEvent) -> None:
            changes = {"failed_conversations": event.failed, "cost": event.cost}
            show(event.done, event.total, stage="asking", eta_s=event.eta_s, **changes)

        return Listeners(
            scoring=scoring,
            counts=count,
            live=live,
            problem=problem,
            cancelled=lambda: id in self._cancelled,
        )

    def _set(self, id: str, *, publish: bool = True, **changes: object) -> RunJob:
        job = self._jobs[id] = msgspec.structs.replace(self._jobs[id], **changes)
        if publish:
            self.changed(job)
        return job


def _prepare(
    sources: JobSources,
    request: JobRequest,
    own_labels: Mapping[str, str],
    recorded: Sequence[Trace] = (),
) -> Callable[[Listeners], Run]:
    """Check everything that the request names, and return the work."""
    check_metrics(request.metrics)
    _check_profile(request.profile)
    check_labels(request.labels)
    _check_reserved(request.labels)
    make_selection(request.tags, request.where)  # an invalid expression is reported at once
    golden = load_draft(sources.folder, request.dataset)
    labels = {**request.labels, **own_labels}
    if recorded and (request.traces or request.sessions):
        raise UsageError("the traces of a run, and others", hint="pass only one of them")
    if request.sessions:
        if request.traces or request.target is not None:
            raise UsageError("sessions, traces and a target", hint="pass only one of them")
        _check_fields_of_sessions(request)
        check_sessions(sources.store, request.sessions)
        return lambda listeners: _score_sessions(sources, request, golden, labels, listeners)
    config = load_trusted(None)
    live = _live_request(config, request, recorded) if request.target is not None else None
    files = [upload_file(sources.uploads, id) for id in request.traces]
    run = RunRequest(
        traces=files,
        recorded=recorded,
        live=live,
        golden=golden,
        metrics=request.metrics,
        thresholds={name: repr(value) for name, value in request.thresholds.items()},
        profile=request.profile,
        tags=request.tags,
        where=request.where,
        cases=request.cases,
        by=request.by,
        config=msgspec.structs.replace(without_targets(config), traces=()),
        store=sources.store,
        labels=labels,
        resume=True,
        keep_traces=True,
    )
    return lambda listeners: evaluate(run, listeners).run


def _request_labels(key: str | None, body: bytes) -> dict[str, str]:
    """The labels by which a later server knows the run of an idempotency key."""
    return {_REQUEST: _digest(key), _REQUEST_BODY: _digest(body)} if key else {}


def _check_reserved(labels: Mapping[str, str]) -> None:
    """Raise `UsageError` for labels that would make a run that of somebody else's key."""
    reserved = next((name for name in (_REQUEST, _REQUEST_BODY) if name in labels), None)
    if reserved:
        hint = "send an `Idempotency-Key`; its digest becomes this label"
        raise UsageError(f"the label {reserved!r} is reserved", hint=hint)


def _check_fields_of_sessions(request: JobRequest) -> None:
    """Raise `UsageError` for fields that would be ignored: not those cases would be scored."""
    defaults = JobRequest(dataset=request.dataset)
    for name in request.__struct_fields__:
        if name not in _OF_SESSIONS and getattr(request, name) != getattr(defaults, name):
            hint = f"sessions are scored with {', '.join(sorted(_OF_SESSIONS - {'dataset'}))} only"
            raise UsageError(f"sessions and {name}", hint=hint)


def _live_request(config: Config, request: JobRequest, recorded: Sequence[Trace]) -> LiveRequest:
    name = request.target or ""
    if request.traces or recorded:
        raise UsageError("both traces and a target", hint="pass only one of them")
    settings = named_target(config, name)
    if settings.withheld:  # their values are not for whoever may start runs
        hint = "run `carob trust` in the folder of the server"
        raise RefusedError(f"the settings of target {name!r} are not trusted", hint=hint)
    return LiveRequest(target=settings)


def list_targets() -> tuple[str, ...]:
    """Return the names of the live agents that requests may name."""
    return tuple(load_trusted(None).targets)


def _score_sessions(
    sources: JobSources,
    request: JobRequest,
    golden: Dataset,
    labels: Mapping[str, str],
    listeners: Listeners,
) -> Run:
    scored = evaluate_sessions(
        sources.store,
        request.sessions,
        golden,
        metrics=request.metrics,
        labels=labels,
        listeners=listeners,
    )
    return scored.run


def check_metrics(names: Sequence[str]) -> None:
    """Raise `UsageError` unless all metrics are installed or named in the server's config: on the
    command line, a name may be a rubric file."""
    config = load_trusted(None)
    known = {choice.name for choice in (*config.metrics, *config.unrequested)}
    installed = plugins.metrics()
    for name in names:
        if name not in known and name not in installed:
            hint = did_you_mean(name, [*installed, *known]) or "GET /api/metrics lists them"
            raise UsageError(f"unknown metric {name!r}", hint=hint)


def _check_profile(name: str | None) -> None:
    """Raise `UsageError` unless a profile is built in: on the command line, it may be a file."""
    if name is not None and name not in builtin_profiles():
        hint = (
            did_you_mean(name, builtin_profiles()) or f"profiles: {', '.join(builtin_profiles())}"
        )
        raise UsageError(f"unknown profile {name!r}", hint=hint)


def _job_of_run(run: RunEntry, key: str) -> RunJob:
    """The job of a run that an earlier server made, or another one."""
    dataset, cases = run.dataset or "", run.cases
    total = cases.total
    job = RunJob(f"job-{_digest(key)}", "done", dataset, total, total, 0.0, run.id, (), cases)
    return msgspec.structs.replace(job, verdict=run.verdict, **status_fields(cases))


def _run_of_key(store: str, key: str) -> RunEntry | None:
    """Return the run that was made for an idempotency key, also by an earlier server."""
    if not exists(store):
        return None
    runs = list_runs(labels={_REQUEST: _digest(key)}, limit=1, store=store).runs
    return runs[0] if runs else None


def _digest(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return sha256(data).hexdigest()[:16]
