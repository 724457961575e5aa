"""Recordings of agents: containers → spans → traces."""
