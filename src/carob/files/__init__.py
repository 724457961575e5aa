"""Files: atomic writes, opening, timestamps, and the cycle collector while much is read."""
