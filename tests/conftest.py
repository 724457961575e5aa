from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

# Properties say nothing about speed: on a busy machine a deadline or a slow input would fail them.
_PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("patient", _PATIENT)
settings.load_profile("patient")
# CI tries the same examples every time, so that it answers for the change and not for luck; anybody
# else's run looks for new ones.
settings.register_profile("ci", _PATIENT, derandomize=True)
# Mutation testing runs every property thousands of times.
settings.register_profile("mutation", _PATIENT, derandomize=True, max_examples=20, database=None)
if os.environ.get("CI"):
    settings.load_profile("ci")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Background jobs of a shell ignore Ctrl-C, and so would every command that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
