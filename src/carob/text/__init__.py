"""Text: misspelt names, and personal data and secrets."""
