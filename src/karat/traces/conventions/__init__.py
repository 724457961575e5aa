"""Semantic conventions: spans → `Trace`."""

from karat.traces.conventions.hints import recording_hint
from karat.traces.conventions.sessions import sessions
from karat.traces.conventions.traces import to_traces

__all__ = ["recording_hint", "sessions", "to_traces"]
