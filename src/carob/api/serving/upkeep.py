"""What a server does by itself: score complete sessions by its rules, and remove old ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from carob.api.golden.folder import GoldenFolder
from carob.api.serving.leases import Leases
from carob.api.serving.online import Alert, RuleRunner, forget_past, today
from carob.api.settings import load_trusted
from carob.config.config import ServeSettings as ServeSettings
from carob.errors import CarobError
from carob.schema.base import Struct
from carob.schema.problem import ignore
from carob.store.inbox import open_inbox
from carob.store.retention import remove_sessions, sessions_beyond

_PAUSE_SECONDS = 1.0
_RETRY_SECONDS = 30.0
"""After which a rule that failed is tried again."""
_RETENTION_SECONDS = 300.0
_AT_ONCE = 200
"""Sessions that one transaction removes: receivers must not wait long for it."""


class ServerRule(Struct, frozen=True, omit_defaults=False):
    """A rule of online evaluation, and why it does not work, if it does not."""

    name: str
    metrics: tuple[str, ...]
    sample: float
    max_cost_per_day: float | None
    problem: str | None


class Upkeep:
    """Works in a thread of its own until it is closed."""

    def __init__(
        self,
        store: str,
        folder: GoldenFolder,
        *,
        publish: Callable[[str, object], None] = ignore,
        leases: Leases | None = None,
    ) -> None:
        """Work on a store. `leases` say which of several servers on it works on a rule."""
        config = load_trusted(None)
        self.settings: ServeSettings = config.serve
        self._store, self._publish = store, publish
        self._rules = [
            RuleRunner(
                rule,
                store=store,
                folder=folder,
                config=config,
                alert=self._alert,
                saved=lambda run: publish("run", {"run": run}),
            )
            for rule in config.serve.rules
        ]
        self._leases = leases
        self._problems: dict[str, str] = {}
        self._retry_at: dict[str, float] = {}
        for runner in self._rules:
            self._attempt(runner, runner.check)
        self._stopping = threading.Event()
        self._next_retention = 0.0
        self._thread = threading.Thread(target=self._work, name="carob-upkeep", daemon=True)

    def start(self) -> None:
        """Start to work."""
        self._thread.start()

    def close(self) -> None:
        """Finish the current step, save what is scored, and stop."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def rules(self) -> tuple[ServerRule, ...]:
        """The rules and their problems."""
        return tuple(
            ServerRule(
                runner.rule.name,
                runner.rule.metrics,
                runner.rule.sample,
                runner.rule.max_cost_per_day,
                self._problems.get(runner.rule.name),
            )
            for runner in self._rules
        )

    def _work(self) -> None:
        while not self._stopping.wait(_PAUSE_SECONDS):
            for runner in self._working_rules():
                self._attempt(runner, lambda runner=runner: self._score(runner))
            if time.monotonic() >= self._next_retention:
                self._next_retention = time.monotonic() + _RETENTION_SECONDS
                self._remove_old()
        for runner in self._working_rules():
            self._attempt(runner, lambda runner=runner: runner.save_days(at_once=True))

    def _working_rules(self) -> Sequence[RuleRunner]:
        now = time.monotonic()
        return [runner for runner in self._rules if now >= self._retry_at.get(runner.rule.name, 0)]

    def _score(self, runner: RuleRunner) -> None:
        if runner.rule.name in self._problems:
            runner.check()
        if self._leases and not self._leases.take(f"rule {runner.rule.name}"):
            return
        runner.resume()
        while runner.score_complete() and not self._stopping.is_set():
            pass
        runner.save_days()

    def _attempt(self, runner: RuleRunner, step: Callable[[], object]) -> None:
        """Carry out a step of a rule. After a failure it is left alone for a while: a database
        comes back, a dataset is added. Its sessions stay undecided."""
        name = runner.rule.name
        try:
            step()
        except CarobError as error:
            known, self._problems[name] = self._problems.get(name), str(error)
            self._retry_at[name] = time.monotonic() + _RETRY_SECONDS
            if known != str(error):
                self._alert(Alert(name, today(), f"the rule does not work: {error}"))
        else:
            self._problems.pop(name, None)

    def _remove_old(self) -> None:
        try:
            removed = apply_retention(self._store, self.settings)
            forget_past(self._store)
        except CarobError as error:  # a full disk; receivers report it, and the next round tries
            self._publish("ingest", {"problem": error.message})
            return
        if removed:
            self._publish("ingest", {"removed": removed})

    def _alert(self, alert: Alert) -> None:
        self._publish("alert", alert)


def apply_retention(store: str, settings: ServeSettings) -> int:
    """Remove sessions that are too old or too many, and return their number. Golden and labelled
    sessions stay."""
    oldest = time.time_ns() // 1000 - int(settings.keep_days * 86_400 * 10**6)
    with open_inbox(store) as database:
        sessions = sessions_beyond(
            database, older_than=oldest, max_bytes=int(settings.keep_gb * 10**9)
        )
    for start in range(0, len(sessions), _AT_ONCE):
        with open_inbox(store) as database:
            remove_sessions(database, sessions[start : start + _AT_ONCE])
    return len(sessions)
