"""Files: opening, atomic writes, temporary folders, timestamps, and the cycle collector."""
