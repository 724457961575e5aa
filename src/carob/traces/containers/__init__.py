"""Containers: the ways in which recordings are written down → spans, log records and traces."""

from carob.traces.containers.container import Container, LogRecord, Record
from carob.traces.containers.detect import container_of, read_batches, read_items

__all__ = [
    "Container",
    "LogRecord",
    "Record",
    "container_of",
    "read_batches",
    "read_items",
]
