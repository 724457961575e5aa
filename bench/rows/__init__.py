"""One file per measurement, each with `measure() -> Iterator[Row]`."""
