"""Leases of a server: the runs and rules that it works on, while others share its store."""

from __future__ import annotations

import secrets
import threading
import time
from contextlib import suppress

from carob.errors import CarobError
from carob.store import open_store
from carob.store.leases import release_leases, take_lease

LEASE_SECONDS = 60
"""After a crash, how long others wait. The clocks of the servers may differ by less than this."""
_RENEW_SECONDS = 15


class Leases:
    """Takes leases and renews them until they are released. Any thread may ask."""

    def __init__(self, store: str) -> None:
        self._store, self._owner = store, secrets.token_hex(8)
        self._held: dict[str, float] = {}
        """The leases, and when they end unless they are renewed."""
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, name: str) -> bool:
        """Take a lease, and return whether this server has it."""
        with self._lock:
            if time.monotonic() < self._held.get(name, 0.0):
                return True
            if not self._take(name):
                return False
            if self._thread is None:  # late: most servers have no rules, and rarely runs
                self._thread = threading.Thread(target=self._renew, name="carob-leases")
                self._thread.daemon = True
                self._thread.start()
            return True

    def release(self, name: str) -> None:
        """Let others have a lease."""
        with self._lock:
            if self._held.pop(name, None) is not None:
                self._release([name])

    def close(self) -> None:
        """Release all leases."""
        self._closing.set()
        with self._lock:
            names = [*self._held]
            self._held.clear()
            if names:
                self._release(names)

    def _take(self, name: str) -> bool:
        end, now = time.monotonic() + LEASE_SECONDS, time.time_ns() // 1000
        until = now + LEASE_SECONDS * 10**6
        with open_store(self._store, create=True) as database:
            is_ours = take_lease(database, name, self._owner, now=now, until=until)
        if is_ours:
            self._held[name] = end
        else:
            self._held.pop(name, None)
        return is_ours

    def _release(self, names: list[str]) -> None:
        with suppress(CarobError), open_store(self._store) as database:  # else they run out
            release_leases(database, names, self._owner)

    def _renew(self) -> None:
        while not self._closing.wait(_RENEW_SECONDS):
            with self._lock:
                for name in [*self._held]:
                    with suppress(CarobError):  # the next round tries again, before they end
                        self._take(name)
