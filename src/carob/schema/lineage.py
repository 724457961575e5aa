from __future__ import annotations

from collections.abc import Mapping

from carob.schema.noun import Json, Noun


class Lineage(Noun, frozen=True):
    """Where a case comes from."""

    source: str | None = None
    ticket_id: str | None = None
    trace_id: str | None = None
    file: str | None = None
    reviewed_by: str | None = None
    date_added: str | None = None

    @classmethod
    def of(cls, metadata: Mapping[str, Json]) -> Lineage:
        """What metadata says of it under the names above."""
        texts = {name: metadata.get(name) for name in cls.__struct_fields__}
        return cls(**{name: text for name, text in texts.items() if isinstance(text, str)})
