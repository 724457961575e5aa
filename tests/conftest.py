from __future__ import annotations

import os
import signal

from hypothesis import settings

# CI tries the same examples every time, so that it answers for the change and not for luck; anybody
# else's run looks for new ones.
settings.register_profile("ci", derandomize=True)
# Mutation testing runs every property thousands of times.
settings.register_profile(
    "mutation", derandomize=True, max_examples=20, deadline=None, database=None
)
if os.environ.get("CI"):
    settings.load_profile("ci")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Background jobs of a shell ignore Ctrl-C, and so would every command that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
