"""Numbers over a run, or between two runs. Pure."""
