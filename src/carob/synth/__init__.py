"""Synthetic golden data: variants of cases whose expectations are right by construction."""
