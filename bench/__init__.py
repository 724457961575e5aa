"""Side-by-side measurements. A file in `bench/rows/` is one row, or a few that belong together."""
