"""Judges: metrics that ask a model, and all that stands between a question and its answer.

What other rooms need is imported when it is asked for: a run without judges pays for none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carob.judges.asking.asker import LiveAsker
    from carob.judges.asking.budget import Budget
    from carob.judges.asking.cache import Cache, Kept, Lasting, Memory
    from carob.judges.asking.caller import Caller
    from carob.judges.asking.estimate import Estimator
    from carob.judges.asking.price import cost
    from carob.judges.models import open_model
    from carob.judges.rubrics.definitions import definition_class
    from carob.judges.rubrics.load import rubric_class

__all__ = [
    "Budget",
    "Cache",
    "Caller",
    "Estimator",
    "Kept",
    "Lasting",
    "LiveAsker",
    "Memory",
    "cost",
    "definition_class",
    "open_model",
    "rubric_class",
]

_HOMES = {
    "asking.asker": {"LiveAsker"},
    "asking.budget": {"Budget"},
    "asking.cache": {"Cache", "Kept", "Lasting", "Memory"},
    "asking.caller": {"Caller"},
    "asking.estimate": {"Estimator"},
    "asking.price": {"cost"},
    "models": {"open_model"},
    "rubrics.definitions": {"definition_class"},
    "rubrics.load": {"rubric_class"},
}


def __getattr__(name: str) -> object:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'carob.judges' has no attribute {name!r}")
    return getattr(import_module(f"carob.judges.{home}"), name)
