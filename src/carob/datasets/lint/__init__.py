"""Lint golden data: one module per family of rules, `run` to apply them to a file."""
