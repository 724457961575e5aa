"""The one door from code that does not wait to judges, who have to be waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def wait(what: Coroutine[Any, Any, T]) -> T:
    """What it comes to. It runs in a loop and a thread of its own, so that judges can be asked from
    a plain test as well as from one that runs in a loop already."""
    return asyncio.run_coroutine_threadsafe(what, _loop()).result()


@cache
def _loop() -> asyncio.AbstractEventLoop:
    """One for the process: connections stay open from case to case."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="carob-judges", daemon=True).start()
    return loop
