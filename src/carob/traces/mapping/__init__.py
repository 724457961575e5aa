"""From spans to a `Trace`: roles, splitting, turns, tool calls, model calls."""
