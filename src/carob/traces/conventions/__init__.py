"""Semantic conventions, one file per framework: which spans it owns and where the fields are."""
