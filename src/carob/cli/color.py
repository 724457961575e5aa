"""Whether to print colors."""

from __future__ import annotations

import os
from typing import TextIO


def color_setting() -> bool | None:
    """Return what the environment says about colors: NO_COLOR (https://no-color.org) is stronger
    than FORCE_COLOR and CLICOLOR_FORCE. `None` if it says nothing."""
    if os.environ.get("NO_COLOR"):
        return False
    if any(
        os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")
    ):
        return True
    return False if os.environ.get("TERM") == "dumb" else None


def use_color(stream: TextIO) -> bool:
    """Return whether to print colors: by default only on terminals."""
    setting = color_setting()
    return stream.isatty() if setting is None else setting
