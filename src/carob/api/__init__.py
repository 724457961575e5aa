"""The use-cases: everything that the command line, the pytest plugin and Python code call.

`api.runs` and the others are imported when they are first used: the help of a command and the
completion of its options do without them.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carob.api import calibration as calibration
    from carob.api import compare as compare
    from carob.api import completion as completion
    from carob.api import datasets as datasets
    from carob.api import history as history
    from carob.api import lint as lint
    from carob.api import live_request as live_request
    from carob.api import metrics as metrics
    from carob.api import mocks as mocks
    from carob.api import policy as policy
    from carob.api import release as release
    from carob.api import review as review
    from carob.api import run_cases as run_cases
    from carob.api import run_request as run_request
    from carob.api import runs as runs
    from carob.api import settings as settings
    from carob.api import store as store
    from carob.api import traces as traces
    from carob.api import versions as versions


def __getattr__(name: str) -> ModuleType:
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
