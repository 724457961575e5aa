"""Judges: metrics that ask a model, and all that stands between a question and its answer."""
