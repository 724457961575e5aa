"""Several people, one opinion: what most of them say, or what is in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from carob.schema import Opinion


def consensus(opinions: Sequence[Opinion], *, whole: bool = False) -> Opinion | None:
    """The majority of verdicts, the median of numbers. `None` if it is a tie: as many say the one
    as the other, or the median is between two of the `whole` levels."""
    numbers = [one for one in opinions if not isinstance(one, str)]
    if numbers:
        middle = float(median(numbers))
        return None if whole and not middle.is_integer() else middle
    passed = opinions.count("passed")
    if 2 * passed == len(opinions):
        return None
    return "passed" if 2 * passed > len(opinions) else "failed"
