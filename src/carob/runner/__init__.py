"""Pairing cases with traces, scoring the pairs, on all cores; stopping and going on."""
