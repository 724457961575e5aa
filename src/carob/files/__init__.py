"""Files: opening, atomic writes, timestamps, and the cycle collector during large reads."""
