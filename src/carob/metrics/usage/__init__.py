"""Metrics of tokens, cost and time."""
