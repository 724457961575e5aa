"""Text helpers: suggestions for misspelled names, and sensitive data."""
