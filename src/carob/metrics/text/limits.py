"""Say which facts could not be compared."""

from __future__ import annotations

import msgspec

from carob.schema import Score, Unscored
from carob.text.facts.lexicon import has_packages

_NOT_COMPARED = "units, names of months and number words; install carob[facts] to compare them"


def note_limits(outcome: Score | Unscored) -> Score | Unscored:
    """Say in the details what was not compared because the extra `facts` is not installed."""
    if has_packages() or isinstance(outcome, Unscored):
        return outcome
    return msgspec.structs.replace(
        outcome, details={**outcome.details, "not_compared": _NOT_COMPARED}
    )
