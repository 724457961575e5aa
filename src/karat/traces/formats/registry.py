"""Every container, in the order in which they are asked."""

from __future__ import annotations

from karat.traces.formats.container import Container
from karat.traces.formats.flat import Flat
from karat.traces.formats.otlp_loose import Otlp

CONTAINERS: tuple[Container, ...] = (
    Otlp(),
    Flat(),
)
