"""Online evaluation: rules score sessions as they complete, and their results are ordinary runs.

A rule decides about each session once. The results of a day are kept beside the sessions and saved
as one run, which takes the place of the one that was saved earlier on that day: a run that cannot
change any more needs the day to be over, and nobody wants to wait for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import blake2b

import msgspec

from carob.api.golden.drafts import load_draft
from carob.api.golden.folder import GoldenFolder
from carob.api.metrics import build_metric
from carob.api.run_request import RunRequest
from carob.api.running.assemble import assemble_run, dataset_info
from carob.api.runs import evaluate
from carob.api.serving.session_traces import session_trace
from carob.api.serving.sessions import match_traces, session_filter
from carob.api.store import save_run
from carob.config import Config
from carob.config.config import OnlineRule
from carob.errors import CarobError, NotFoundError, UsageError
from carob.schema import CaseResult, Dataset, JudgeSettings, MetricSpec, Run, RunDataset, Trace
from carob.schema.base import Struct, prepare_type
from carob.schema.problem import ignore
from carob.store import Database, open_store
from carob.store.evaluated import (
    Decision,
    forget_removed,
    record_decisions,
    results_of_day,
    rule_start,
    undecided_sessions,
)
from carob.store.history import count_cases, executions_with
from carob.store.inbox import find_session, open_inbox
from carob.store.prune import remove_executions

_BATCH = 50
_SECONDS_BETWEEN_SAVES = 60.0
_MIN_DECIDED = 20
"""Sessions of a day before a low pass rate is worth an alert."""


class SessionResult(Struct, frozen=True):
    """What a rule found out about a session."""

    result: CaseResult
    metrics: tuple[MetricSpec, ...]
    dataset: RunDataset | None = None
    cost: float = 0.0
    """US dollars for judges, of all sessions that were scored together with this one."""


class Alert(Struct, frozen=True, omit_defaults=False):
    """Something that a person should look at."""

    rule: str
    day: str
    message: str
    run: str | None = None


_decode = msgspec.json.Decoder(prepare_type(SessionResult)).decode
AlertListener = Callable[[Alert], None]


class RuleRunner:
    """Applies one rule to the sessions of a store."""

    def __init__(
        self,
        rule: OnlineRule,
        *,
        store: str,
        folder: GoldenFolder,
        config: Config,
        alert: AlertListener = ignore,
        saved: Callable[[str], None] = ignore,
        since: int | None = None,
    ) -> None:
        """Apply a rule to sessions with spans since a time, in microseconds since 1970; by default
        since the rule exists."""
        self.rule, self._store, self._folder, self._config = rule, store, folder, config
        self._alert, self._saved = alert, saved
        self._key = f"{rule.name}#{_digest(rule, config)}"
        """A rule that was changed is another rule: its numbers must not be mixed with the old."""
        self._since = since
        self._alerted: set[tuple[str, str]] = set()
        self._unsaved: set[str] = set()
        self._next_save = 0.0
        self._is_resumed = False

    def check(self) -> None:
        """Raise an error for a rule that cannot work: unknown metrics or datasets, and judges
        without a budget or without trust."""
        for name in self.rule.metrics:
            metric = build_metric(self._config.choice(name))
            if metric.judged and self.rule.max_cost_per_day is None:
                hint = "set max_cost_per_day, and run `carob trust` if it is set"
                raise UsageError(f"rule {self.rule.name}: judges need a budget", hint=hint)
        if self.rule.golden is not None:
            load_draft(self._folder, self.rule.golden)

    def score_complete(self) -> int:
        """Decide about some of the sessions that are complete, and return their number."""
        with open_inbox(self._store) as database:
            now = time.time_ns() // 1000
            if self._since is None:
                self._since = rule_start(database, self._key, now)
            day = today()
            wanted = session_filter(agent=self.rule.agent, state="complete")
            rows = undecided_sessions(database, self._key, wanted, since=self._since, limit=_BATCH)
            chosen = [row for row in rows if is_sampled(self.rule, row.id)]
            traces = {row.id: session_trace(database, row, []) for row in chosen}
            traces = {id: trace for id, trace in traces.items() if self._has_text(id, trace)}
            scored = self._score(database, day, traces)
            decisions = [Decision(row.id, scored.get(row.id)) for row in rows]
            record_decisions(database, self._key, day, decisions)
        if scored:
            self._unsaved.add(day)
        return len(rows)

    def resume(self) -> None:
        """Find results of this day that a server recorded and could not save as a run."""
        if self._is_resumed:
            return
        day = today()
        with open_inbox(self._store) as inbox:
            scored = sum(1 for _ in results_of_day(inbox, self._key, day))
        with open_store(self._store, create=True) as database:
            executions = executions_with(database, self._labels(day))
            saved = count_cases(database, executions)
        if scored and scored != saved:
            self._unsaved.add(day)
        self._is_resumed = True

    def _labels(self, day: str) -> dict[str, str]:
        return {"online": self.rule.name, "day": day}

    def save_days(self, *, at_once: bool = False) -> None:
        """Save the runs of days with new results, unless that was done a moment ago."""
        start = time.monotonic()
        if not self._unsaved or (start < self._next_save and not at_once):
            return
        for day in sorted(self._unsaved):
            self._save_day(day)
        self._unsaved.clear()
        # A day of many sessions takes long to save; most of the time must be left for others.
        took = time.monotonic() - start
        self._next_save = time.monotonic() + max(_SECONDS_BETWEEN_SAVES, 20 * took)

    def _has_text(self, session: str, trace: Trace | None) -> bool:
        if self.rule.text is None:
            return True
        message = next((turn.user for turn in trace.turns if turn.user), "") if trace else ""
        return self.rule.text.casefold() in f"{session} {message}".casefold()

    def _score(
        self, database: Database, day: str, traces: Mapping[str, Trace | None]
    ) -> dict[str, bytes]:
        """Score traces and return the results by session. A session that breaks a metric in an
        unexpected way must not stop the others, so it is left out with an alert."""
        at_work = {id: trace for id, trace in traces.items() if trace is not None}
        budget = self._budget(database, day) if at_work else None
        if not at_work or budget == 0:
            return {}
        try:
            return self._evaluate(day, at_work, budget)
        except CarobError:
            raise
        except Exception as error:  # noqa: BLE001 - a metric may be a plugin
            if len(at_work) == 1:
                (session,) = at_work
                self._publish(day, f"session {session} cannot be scored: {error}")
                return {}
        results: dict[str, bytes] = {}
        for session, trace in at_work.items():
            results |= self._score(database, day, {session: trace})
        return results

    def _evaluate(
        self, day: str, traces: Mapping[str, Trace], budget: float | None
    ) -> dict[str, bytes]:
        dataset = load_draft(self._folder, self.rule.golden) if self.rule.golden else None
        recorded, cases = [*traces.values()], list[str]()
        if dataset:
            recorded, cases, _ = match_traces(traces, dataset)
            if not recorded:
                return {}
        run = evaluate(
            RunRequest(
                recorded=recorded,
                golden=dataset,
                cases=cases,
                metrics=self.rule.metrics,
                config=self._run_config(budget),
                save=False,
                answers=self._store,
            )
        ).run
        if run.stopped:
            self._publish(day, f"not all sessions are scored: {run.stopped}")
        sessions = {trace.id: session for session, trace in traces.items()}
        return dict(self._results(run, sessions, dataset))

    def _run_config(self, budget: float | None) -> Config:
        judge = self._config.judge
        if budget is not None:
            judge = msgspec.structs.replace(judge or JudgeSettings(), max_cost=budget)
        return msgspec.structs.replace(self._config, golden=None, traces=(), judge=judge)

    def _results(
        self, run: Run, sessions: Mapping[str, str], dataset: Dataset | None
    ) -> Iterator[tuple[str, bytes]]:
        spending = run.spending or {}
        cost = sum(usage.cost or 0.0 for usage in spending.values())
        info = dataset_info(dataset) if dataset else None
        for result in run.cases:
            # What the budget did not allow says nothing about the agent, and is left out.
            if run.stopped and result.status in ("unscored", "error"):
                continue
            if result.trace in sessions:
                scored = SessionResult(result, run.metrics, info, cost)
                yield sessions[result.trace or ""], msgspec.json.encode(scored)
                cost = 0.0  # counted once

    def _budget(self, database: Database, day: str) -> float | None:
        """Return what is left for judges today; `None` if the rule has no limit."""
        limit = self.rule.max_cost_per_day
        if limit is None:
            return None
        rows = results_of_day(database, self._key, day)
        spent = sum(_decode(body).cost for _, body in rows)
        if spent < limit:
            return limit - spent
        self._publish(day, f"spent ${spent:.2f} of ${limit:.2f}: no more sessions are scored")
        return 0.0

    def _save_day(self, day: str) -> None:
        """Save the results of a day. If the golden data changed in between, the day has a run for
        each state of it."""
        labels = self._labels(day)
        with open_store(self._store, create=True) as database:
            superseded = executions_with(database, labels)
        with open_inbox(self._store) as inbox:
            rows = [
                (session, _decode(body)) for session, body in results_of_day(inbox, self._key, day)
            ]
            runs = [_assemble(group) for group in _group(rows)]
            for run in runs:
                traces = _session_traces(inbox, [session for session, _ in rows])
                save_run(run, store=self._store, labels=labels, traces=traces)
        with open_store(self._store) as database:
            remove_executions(database, superseded)
        for run in runs:
            self._saved(run.id)
            self._check_pass_rate(run, day)

    def _check_pass_rate(self, run: Run, day: str) -> None:
        counts, minimum = run.summary.cases, self.rule.min_pass_rate
        decided = counts.passed + counts.failed + counts.unscored + counts.errors
        if minimum is None or decided < _MIN_DECIDED or counts.passed >= minimum * decided:
            self._alerted.discard((day, "pass rate"))
            return
        message = f"{counts.passed} of {decided} sessions passed, expected {minimum:.0%}"
        self._publish(day, message, kind="pass rate", run=run.id)

    def _publish(
        self, day: str, message: str, *, kind: str | None = None, run: str | None = None
    ) -> None:
        """Publish an alert once: not again with each session, and not again on the same day."""
        key = (day, kind or message.partition(":")[0])
        if key not in self._alerted:
            self._alerted.add(key)
            self._alert(Alert(self.rule.name, day, message, run))


def is_sampled(rule: OnlineRule, session: str) -> bool:
    """Return whether a session is in the sample of a rule, which depends on their names alone."""
    digest = blake2b(f"{rule.name}\0{session}".encode(errors="replace"), digest_size=8)
    return int.from_bytes(digest.digest()) < rule.sample * 2**64


def forget_past(store: str) -> None:
    """Forget decisions of past days about sessions that have been removed since."""
    with open_inbox(store) as database:
        forget_removed(database, today())


def today() -> str:
    """Return the current day in UTC."""
    return f"{datetime.now(UTC):%Y-%m-%d}"


def _group(rows: Sequence[tuple[str, SessionResult]]) -> list[list[SessionResult]]:
    groups: dict[bytes, list[SessionResult]] = {}
    for _, row in rows:
        key = msgspec.json.encode((row.metrics, row.dataset))
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _assemble(group: Sequence[SessionResult]) -> Run:
    first = group[0]
    return assemble_run(first.dataset, first.metrics, [row.result for row in group], {})


def _session_traces(inbox: Database, sessions: Sequence[str]) -> Iterator[Trace]:
    for session in sessions:
        with suppress(NotFoundError):  # removed since
            trace = session_trace(inbox, find_session(inbox, session), [])
            if trace is not None:
                yield trace


def _digest(rule: OnlineRule, config: Config) -> str:
    """The fingerprint of everything that decides about the numbers of a rule."""
    choices = [config.choice(name) for name in rule.metrics]
    settings = (rule.metrics, rule.agent, rule.text, rule.sample, rule.golden, choices)
    data = msgspec.json.encode([settings, config.judge and config.judge.model])
    return blake2b(data, digest_size=4).hexdigest()
