"""Hygiene of golden data: one file per family of rules."""
