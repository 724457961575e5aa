"""Semantic conventions: spans → `Trace`."""

from carob.traces.conventions.hints import recording_hint
from carob.traces.conventions.sessions import sessions
from carob.traces.conventions.traces import to_traces

__all__ = ["recording_hint", "sessions", "to_traces"]
