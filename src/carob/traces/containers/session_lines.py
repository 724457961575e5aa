"""What containers share whose files have the lines of one session, as those of coding agents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from carob.schema import Json, Trace, Turn
from carob.traces.normalize import content_digest_id
from carob.traces.shape import as_array


class SessionLines(ABC):
    """A session with one object per line; a list of them is one, too."""

    name: ClassVar[str]
    convention: ClassVar[str]
    version: ClassVar[int] = 1

    def claims(self, item: Json) -> bool:
        """Whether the item is a list of such lines."""
        lines = as_array(item)
        return bool(lines) and all(map(self.claims_line, lines))

    @abstractmethod
    def claims_line(self, item: Json) -> bool:
        """Whether the item is a line of such a session."""

    @abstractmethod
    def read(self, item: Json, *, source: str) -> Iterator[Trace]:
        """The traces of the sessions in a list of lines."""

    def build_trace(
        self,
        lines: list[dict[str, Json]],
        turns: tuple[Turn, ...],
        source: str,
        *,
        session: str | None,
        gaps: dict[str, str] | None = None,
    ) -> Trace:
        """Return the trace of a session; one that states no id is named by its content."""
        return Trace(
            id=session or content_digest_id([*lines]),
            turns=turns,
            source=source,
            convention=self.convention,
            mapper=f"{self.convention}@{self.version}",
            conversation=session,
            gaps=gaps or {},
        )
