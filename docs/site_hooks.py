"""Prepares pages for the site: code blocks that name a file show its name as a title."""

from __future__ import annotations

import re
from typing import Any

_FILE = re.compile(r"^```(\w+) file=(\S+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return the Markdown of a page in the dialect of the site generator."""
    return _FILE.sub(r'```\1 title="\2"', markdown)
