"""Golden files that are edited in place, and what becomes golden."""
