"""Traces of agents: files → containers → spans → traces."""
