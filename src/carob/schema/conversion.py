from __future__ import annotations

import msgspec

from carob.schema.noun import Noun


class Loss(Noun, frozen=True, omit_defaults=False):
    """A field that the target format has no place for. `case` is `None` for the dataset itself."""

    case: str | None
    field: str
    reason: str


class Conversion(Noun, frozen=True, omit_defaults=False):
    """What became of a dataset in another format."""

    source: str = msgspec.field(name="from")
    target: str = msgspec.field(name="to")
    cases: int
    losses: tuple[Loss, ...]
    carried: bool
    """Whether the target file holds what it has no place for, so that the way back is exact."""
