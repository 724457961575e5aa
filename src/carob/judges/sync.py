"""The only way from synchronous code into the asynchronous judges."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from functools import cache
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to completion and return its result.

    Uses an event loop in a background thread, so it also works where a loop is already running,
    such as in an async test or a notebook, where `asyncio.run` would raise.
    """
    return asyncio.run_coroutine_threadsafe(coroutine, _background_loop()).result()


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    """Start one loop per process, so that connections stay open from case to case."""
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="carob-judges", daemon=True).start()
    return loop
