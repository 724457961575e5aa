"""From the bytes of trace files to the spans of each trace."""
