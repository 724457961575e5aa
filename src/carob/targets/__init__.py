"""Live agents: a golden case becomes a trace."""
