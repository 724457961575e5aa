"""Style sheet and scripts of the pages."""
