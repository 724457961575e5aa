"""Containers: how traces are packed in a file. Each turns items into spans, logs and traces."""

from carob.traces.containers.container import Container, LogRecord, Record
from carob.traces.containers.detect import read_batches, read_items

__all__ = ["Container", "LogRecord", "Record", "read_batches", "read_items"]
