from __future__ import annotations

import os

from hypothesis import settings

# CI tries the same examples every time, so that it answers for the change and not for luck; anybody
# else's run looks for new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
