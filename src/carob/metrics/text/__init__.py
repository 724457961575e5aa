"""Metrics of the text of responses."""
