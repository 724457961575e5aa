from __future__ import annotations

from carob.schema.noun import Json, Noun


class Origin(Noun, frozen=True):
    """The document that a noun was read from, so that writing it back loses nothing."""

    format: str
    doc: Json
    rests: dict[str, Json] = {}
    """By format: what an earlier document said that the noun has no place for."""
    unnamed: tuple[str, ...] = ()
    """The formats whose documents did not state the name: it was that of the file."""
