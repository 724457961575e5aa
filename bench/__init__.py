"""Benchmarks of Carob and its peers. A file in `bench/rows/` measures one or more related rows."""
