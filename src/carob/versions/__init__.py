"""Versions of golden data: what changed, the bump that it demands, releases that never change."""
