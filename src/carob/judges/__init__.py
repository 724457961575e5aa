"""Judges: metrics that ask a model, and the client that asks it."""
