"""Spans with their roles, over all recordings."""

from __future__ import annotations

from carob.traces.mapping.detect import builtin_detector
from carob.traces.mapping.roles import assign_roles
from tests.traces.recorded_spans import recorded_traces


def test_user_text_does_not_depend_on_what_was_read_before() -> None:
    compared = 0
    for recorded in recorded_traces():
        first = assign_roles(recorded.spans, builtin_detector())
        again = assign_roles(recorded.spans, builtin_detector())
        for role_span, twin in zip(first, again, strict=True):
            if role_span.input_messages() is not None:
                assert role_span.user_text() == twin.user_text(), recorded.file
                compared += 1
    assert compared > 1000
