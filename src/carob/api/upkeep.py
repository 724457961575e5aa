"""What a server does by itself: score complete sessions by its rules, and remove old ones."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from carob.api.golden import GoldenFolder
from carob.api.online import Alert, RuleRunner, forget_past, today
from carob.api.settings import load_trusted
from carob.config.config import ServeSettings as ServeSettings
from carob.errors import CarobError
from carob.schema.base import Struct
from carob.schema.problem import ignore
from carob.store.inbox import open_inbox
from carob.store.retention import remove_sessions, sessions_beyond

_PAUSE_SECONDS = 1.0
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
    ) -> None:
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
        self._problems: dict[str, str] = {}
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
        return [runner for runner in self._rules if runner.rule.name not in self._problems]

    def _score(self, runner: RuleRunner) -> None:
        while runner.score_complete() and not self._stopping.is_set():
            pass
        runner.save_days()

    def _attempt(self, runner: RuleRunner, step: Callable[[], object]) -> None:
        """Carry out a step of a rule. One that cannot work is left alone until the next start, and
        its sessions stay undecided."""
        try:
            step()
        except CarobError as error:
            self._problems[runner.rule.name] = str(error)
            self._alert(Alert(runner.rule.name, today(), f"the rule does not work: {error}"))

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
