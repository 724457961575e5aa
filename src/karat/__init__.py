"""Karat measures AI agents against golden data."""
