"""Metrics of tool calls."""
